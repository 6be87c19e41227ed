-- name: entities_by_external_id
-- Entities by external id; of a merged one the entity as it was stated.
select distinct on (external_id) external_id, id, name from (
  select m.external_id, m.entity_id as id, m.name, 1 as rank
  from entity_merges g join mentions m on m.scope_id = g.scope_id and m.entity_id = g.from_id
    and m.external_id = any(%(external_ids)s)
  where g.scope_id = %(scope_id)s
  union all
  select external_id, id, name, 2 from entities
  where scope_id = %(scope_id)s and external_id = any(%(external_ids)s)
) as found order by external_id, rank, id;

-- name: known
-- Those of these entities that exist, as themselves or merged into another.
select id, external_id, name from entities where scope_id = %(scope_id)s and id = any(%(ids)s)
union all
select from_id, null, '' from entity_merges where scope_id = %(scope_id)s and from_id = any(%(ids)s);

-- name: stated_mentions
-- Those of these chunks that mention these entities by the user's assertion.
select m.entity_id, m.chunk_id
from unnest(%(entities)s::uuid[], %(chunks)s::uuid[]) as asked (entity_id, chunk_id)
join mentions m on m.scope_id = %(scope_id)s and m.entity_id = asked.entity_id
  and m.chunk_id = asked.chunk_id and m.kind = 'import';

-- name: owners
-- Those of these entities that the user has asserted, with external id and description.
select entity_id as id, external_id, name, entity_type, description from mentions
where scope_id = %(scope_id)s and entity_id = any(%(ids)s) and chunk_id = %(nil)s
  and kind = 'import' and surface = 0;

-- name: bearers
-- The entities to which the user has given one of these names, as they were stated.
select a.norm, a.entity_id as id, m.name
from aliases a join mentions m on m.scope_id = a.scope_id and m.entity_id = a.entity_id
  and m.chunk_id = %(nil)s and m.kind = 'import' and m.surface = 0
where a.scope_id = %(scope_id)s and a.document_id = %(nil)s and a.key = any(%(keys)s)
  and a.norm = any(%(norms)s);

-- name: chunks_by_external_id
-- Chunks by external id; if several have one id, always the same is returned.
select distinct on (external_id) external_id, id from chunks
where scope_id = %(scope_id)s and external_id = any(%(external_ids)s) order by external_id, id;

-- name: texts
-- The texts of documents; deleted ones are left out.
select d.id, v.text from documents d join document_versions v
  on v.document_id = d.id and v.version = coalesce(d.live_version, d.pending_version)
where d.scope_id = %(scope_id)s and d.id = any(%(document_ids)s);

-- name: sections
-- The sections of documents in reading order, without the roots.
select s.document_id, s.id, s.title, s.level, s.start_offset as start, s.end_offset as end,
  s.heading_source, s.page
from sections s join documents d on d.id = s.document_id
  and s.version = coalesce(d.live_version, d.pending_version)
where d.scope_id = %(scope_id)s and d.id = any(%(document_ids)s) and s.level > 0
order by s.document_id, s.ordinal;

-- name: chunks
-- The chunks of documents in order. Each document is looked up by its own index range, here and below, since a
-- planner without statistics of a new scope would read the whole scope for each.
select c.document_id, c.id, coalesce(c.external_id, c.id::text) as external_id, c.title, c.text,
  c.start_offset as start, c.section_id, c.page, c.modality, c.context
from unnest(%(document_ids)s::uuid[]) as wanted (id) cross join lateral (
  select * from chunks where document_id = wanted.id and scope_id + 0 = %(scope_id)s offset 0
) as c
order by c.document_id, c.ordinal, c.id;

-- name: mentions
-- The mentions by users and models in the chunks of documents.
select m.document_id, m.chunk_id, m.entity_id, m.name, m.entity_type, m.description
from unnest(%(document_ids)s::uuid[]) as wanted (id) cross join lateral (
  select * from mentions
  where scope_id = %(scope_id)s and document_id = wanted.id
    and document_id <> '00000000-0000-0000-0000-000000000000' and kind in ('import', 'model') offset 0
) as m
order by m.chunk_id, m.start_offset, m.name collate "C", m.entity_id;

-- name: relations
-- The relations stated by chunks of documents between such entities.
select e.document_id, e.chunk_id, e.source_id, e.target_id, e.relation_type, e.weight, e.description
from unnest(%(document_ids)s::uuid[]) as wanted (id) cross join lateral (
  select * from relation_evidence r
  where r.scope_id = %(scope_id)s and r.document_id = wanted.id
    and r.document_id <> '00000000-0000-0000-0000-000000000000'
    and r.relation_type <> %(co_occurs)s offset 0
) as e
where not exists (
  select from (values (e.source_id), (e.target_id)) as ends(entity_id)
  where not exists (select from mentions m where m.scope_id = e.scope_id
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

-- name: decisions
-- What the user said is one, and then what he said is not.
select from_id as source_id, into_id as target_id, true as same, reason
from entity_merges where scope_id = %(scope_id)s and not automatic
union all
select one_id, other_id, false, '' from entity_distinctions where scope_id = %(scope_id)s
order by same desc, source_id, target_id;

-- name: merged
-- Those of these entities that are another now.
select from_id as id, root_id from entity_merges where scope_id = %(scope_id)s and from_id = any(%(ids)s);
