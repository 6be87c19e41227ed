-- name: stamp
-- What tells whether chunks and vectors are as they were; see chunk_stamp (migration 0037).
chunk_stamp(%s, %s)

-- name: size
-- How many chunks there are to search by keyword and by vector, and how many bytes of text they have.
select count(*) as chunks, coalesce(sum(octet_length(folded)), 0)::bigint as octets,
  (select count(*) from chunk_vectors
    where partition_key = %(partition_key)s and scope_id = %(scope_id)s) as vectors,
  coalesce((select pg_column_size(embedding) from chunk_vectors
    where partition_key = %(partition_key)s and scope_id = %(scope_id)s limit 1), 0) as vector_octets
from chunk_grams where scope_id = %(scope_id)s;

-- name: block
-- The next chunks in the order of ids, column by column: a message for each would take longer to read.
select string_agg(uuid_send(chunk_id), '') as ids, string_agg(vector_send(embedding), '') as vectors,
  string_agg(int4send(octet_length(folded)), '') as octets, string_agg(folded, E'\n') as texts
from (
  select g.chunk_id, g.folded, v.embedding
  from chunk_grams g join chunk_vectors v on v.partition_key = %(partition_key)s
    and v.scope_id = g.scope_id and v.chunk_id = g.chunk_id
  where g.scope_id = %(scope_id)s and (%(after)s::uuid is null or g.chunk_id > %(after)s)
  order by g.chunk_id limit %(limit)s
) as next;
