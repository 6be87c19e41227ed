-- Nothing is kept in memory of chunks any more.
drop function if exists chunk_stamp(text, text);
