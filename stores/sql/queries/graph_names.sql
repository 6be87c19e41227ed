-- name: names
-- Every name that an entity of this graph is found by.
select distinct entity_id, name from aliases where scope_id = %(scope_id)s;

-- name: containing
-- Chunks of other documents that contain one of the names, and their texts; see search_grams.
select c.id, c.text
from search_grams(%(scope_id)s, %(words)s, %(gram_words)s, %(grams)s::int[]) s
join chunks c on c.scope_id = %(scope_id)s and c.id = s.chunk_id
where c.document_id <> %(document_id)s order by c.id;

-- name: is_live
-- Whether a document's live version is this one.
select from documents
where scope_id = %(scope_id)s and id = %(document_id)s and live_version = %(version)s;
