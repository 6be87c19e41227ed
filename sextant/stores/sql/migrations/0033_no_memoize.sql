-- Words differ, so what the index names for one is never asked again: remembering it was a sixth of the
-- search of a large knowledge base.
alter function named_chunks(text, text, text[], int[], text[], int) set enable_memoize = off;
