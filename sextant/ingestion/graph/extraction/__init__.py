"""Out of passages into evidence rows: titles, links, terms, tables, and what a chat model reads."""
