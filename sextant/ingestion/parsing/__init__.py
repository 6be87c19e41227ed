"""Parse a file into a document draft (text, sections, chunks), in a process of its own."""
