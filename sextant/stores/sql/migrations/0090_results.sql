-- What results show is read by queries like any other.
drop function if exists nearest_chunk_contents(text, text, vector, int, int);
drop function if exists chunk_contents(text, text, bytea, int);
drop function if exists entity_contents(text, text, uuid[]);
