"""Extract evidence from passages: titles, links, terms, tables, and the extraction by a chat model."""
