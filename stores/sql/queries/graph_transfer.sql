-- name: entities_by_external_id
-- Entities by the user's own ids.
select external_id, id, name from entities
where scope_id = %(scope_id)s and external_id = any(%(external_ids)s);

-- name: owners
-- Which of these entities are there, and which id of the user's own each has.
select id, external_id, name from entities where scope_id = %(scope_id)s and id = any(%(ids)s);

-- name: chunks_by_external_id
-- Chunks by the user's own ids; of two that bear one id the same is taken every time.
select distinct on (external_id) external_id, id from chunks
where scope_id = %(scope_id)s and external_id = any(%(external_ids)s) order by external_id, id;

-- name: chunks
-- A document's passages in order.
select id, coalesce(external_id, id::text) as external_id, title, text from chunks
where scope_id = %(scope_id)s and document_id = %(document_id)s order by ordinal, id;

-- name: mentions
-- What a document's chunks mention by the word of users and models.
select chunk_id, entity_id, name, entity_type, description from mentions
where scope_id = %(scope_id)s and document_id = %(document_id)s and kind in ('import', 'model')
order by chunk_id, start_offset, name collate "C", entity_id;

-- name: relations
-- What a document's chunks state about entities that they mention by that word.
select e.chunk_id, e.source_id, e.target_id, e.relation_type, e.weight, e.description
from relation_evidence e
where e.scope_id = %(scope_id)s and e.document_id = %(document_id)s and not exists (
  select from (values (e.source_id), (e.target_id)) as ends(entity_id)
  where not exists (select from mentions m where m.scope_id = %(scope_id)s
    and m.entity_id = ends.entity_id and m.chunk_id = e.chunk_id and m.kind in ('import', 'model'))
)
order by e.chunk_id, e.relation_id;

-- name: asserted_entities
-- Entities by the user's own word, a page after `last`, with his aliases.
select m.entity_id, m.name, m.entity_type, m.description, m.external_id,
  array(select a.name from aliases a where a.scope_id = m.scope_id and a.entity_id = m.entity_id
    and a.document_id = %(nil)s order by a.name collate "C") as aliases
from mentions m
where m.scope_id = %(scope_id)s and m.document_id = %(nil)s and m.chunk_id = %(nil)s
  and m.kind = 'import' and m.entity_id > %(last)s
order by m.entity_id limit %(limit)s;

-- name: asserted_relations
-- Relations by the user's own word, a page after `last`.
select relation_id, source_id, target_id, relation_type, weight, description
from relation_evidence
where scope_id = %(scope_id)s and document_id = %(nil)s and chunk_id = %(nil)s
  and relation_id > %(last)s
order by relation_id limit %(limit)s;

-- name: names
-- How entities are called in an export: by the user's own id, else by a name.
select distinct on (entity_id) entity_id, coalesce(external_id, name) as name from mentions
where scope_id = %(scope_id)s and entity_id = any(%(ids)s)
order by entity_id, external_id nulls last, name collate "C";
