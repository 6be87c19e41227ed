-- name: names
-- All names by which entities of this graph are found.
select distinct entity_id, name from aliases where scope_id = %(scope_id)s;

-- name: has_chunks
-- Whether the scope has chunks.
select exists (select from chunks where scope_id = %(scope_id)s);

-- name: containing
-- Chunks of other documents that contain one of the names, with their texts; see search_grams.
select c.id, c.text
from search_grams(%(scope_id)s, %(words)s, %(gram_words)s, %(grams)s::int[]) s
join chunks c on c.scope_id = %(scope_id)s and c.id = s.chunk_id
where c.document_id <> all(%(document_ids)s::uuid[]) order by c.id;

-- name: live
-- The documents whose live version is the given one.
select d.id from documents d
join unnest(%(document_ids)s::uuid[], %(versions)s::int[]) as asked (id, version)
  on d.id = asked.id and d.live_version = asked.version
where d.scope_id = %(scope_id)s;
