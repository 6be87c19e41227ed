"""One file into a draft of a document, in a process of its own: what it is, what it says, its sections and chunks."""
