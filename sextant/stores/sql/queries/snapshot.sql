-- name: stamp
-- What tells whether chunks and vectors are as they were; see chunk_stamp.
chunk_stamp(%s, %s)

-- name: head
-- How many chunks there are to search by keyword and by vector, and how many bytes of text they have.
select g.scope_id, g.partition_key, chunk_stamp(g.user_id, g.graph_id) as stamp, size.*,
  (select count(*) from chunk_vectors v
    where v.partition_key = g.partition_key and v.scope_id = g.scope_id) as vectors,
  coalesce((select pg_column_size(embedding) from chunk_vectors v
    where v.partition_key = g.partition_key and v.scope_id = g.scope_id limit 1), 0) as vector_octets
from graphs g cross join lateral (
  select count(*) as chunks, coalesce(sum(octet_length(folded)), 0)::bigint as octets
  from chunk_grams where scope_id = g.scope_id) as size
where g.user_id = %(user_id)s and g.graph_id = %(graph_id)s;

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
