-- Chunks are stored with their descriptions, so none waits for one.
drop index if exists chunks_to_describe;
