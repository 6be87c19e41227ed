-- name: stamp
-- What tells whether chunks and vectors are as they were; see chunk_stamp.
chunk_stamp(%s, %s)

-- name: head
-- How many chunks there are to search by keyword and by vector, and how many bytes of text they have.
select g.scope_id, g.partition_key, chunk_stamp(g.user_id, g.graph_id) as stamp, size.*,
  (select count(*) from chunk_vectors v
    where v.partition_key = g.partition_key and v.scope_id = g.scope_id) as vectors,
  coalesce((select vector_dims(embedding) from chunk_vectors v
    where v.partition_key = g.partition_key and v.scope_id = g.scope_id limit 1), 0) as dimension
from graphs g cross join lateral (
  select count(*) as chunks, coalesce(sum(octet_length(folded)), 0)::bigint as octets
  from chunk_grams where scope_id = g.scope_id) as size
where g.user_id = %(user_id)s and g.graph_id = %(graph_id)s;

-- name: block
-- The next chunks in the order of ids, column by column: a message for each would take longer to read. What is told
-- of each is found one by one, as in told_chunks.
select string_agg(uuid_send(chunk_id), '' order by chunk_id) as ids,
  string_agg(vector_send(embedding), '' order by chunk_id) as vectors,
  convert_to(json_agg(told order by chunk_id)::text, 'UTF8') as rows
from (
  select chunk_id, embedding from chunk_vectors
  where partition_key = %(partition_key)s and scope_id = %(scope_id)s
    and (%(after)s::uuid is null or chunk_id > %(after)s)
  order by chunk_id limit %(limit)s
) as next cross join lateral (
  select json_build_array(c.document_id, c.external_id, c.filename, c.document_title, c.source,
    c.section_path, coalesce(nullif(c.title, ''), c.document_title), c.section_id, c.text, c.page,
    c.start_offset, c.end_offset, c.modality, c.ordinal, c.context,
    array_to_string(c.topic_labels || c.topics || c.keywords || c.entities || c.tags, E'\n'),
    c.created_at, c.neighbours::text[]) as told
  from found_chunks c where c.scope_id = %(scope_id)s and c.id = next.chunk_id offset 0
) as one;
