-- name: names
-- Every name that an entity of this graph is found by.
select distinct entity_id, name from aliases where scope_id = %(scope_id)s;

-- name: has_chunks
-- Whether there is anything that a name could be found in.
select exists (select from chunks where scope_id = %(scope_id)s);

-- name: containing
-- Chunks of other documents that contain one of the names, and their texts; see search_grams.
select c.id, c.text
from search_grams(%(scope_id)s, %(words)s, %(gram_words)s, %(grams)s::int[]) s
join chunks c on c.scope_id = %(scope_id)s and c.id = s.chunk_id
where c.document_id <> all(%(document_ids)s::uuid[]) order by c.id;

-- name: live
-- Those of some documents of which a certain version is live.
select d.id from documents d
join unnest(%(document_ids)s::uuid[], %(versions)s::int[]) as asked (id, version)
  on d.id = asked.id and d.live_version = asked.version
where d.scope_id = %(scope_id)s;
