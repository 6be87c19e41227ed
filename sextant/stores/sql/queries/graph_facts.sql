-- name: profiles
-- Entities with the name and description that the user gives, else with those of texts, and the number of visible
-- relations, also of their roots.
select s.id, coalesce(own.name, e.name, other.name) as name, coalesce(own.external_id, '') as external_id,
  coalesce(own.description, '') as description, coalesce(root.degree, 0) as degree
from unnest(%(ids)s::uuid[]) as s (id)
left join mentions own on own.scope_id = %(scope_id)s and own.entity_id = s.id and own.chunk_id = %(nil)s
  and own.kind = 'import' and own.surface = 0
left join entities e on e.scope_id = %(scope_id)s and e.id = s.id
left join entity_merges g on g.scope_id = %(scope_id)s and g.from_id = s.id
left join entities root on root.scope_id = %(scope_id)s and root.id = coalesce(g.root_id, s.id)
left join lateral (
  select name from mentions m where m.scope_id = %(scope_id)s and m.entity_id = s.id and m.kind <> 'alias'
    and own.name is null and e.name is null order by m.name collate "C" limit 1
) as other on true
where coalesce(own.name, e.name, other.name) <> '';

-- name: aliases
-- The further names that the user gives to entities.
select s.id, a.norm, a.name from unnest(%(ids)s::uuid[]) as s (id) cross join lateral (
  select norm, name from aliases
  where scope_id = %(scope_id)s and entity_id = s.id and document_id = %(nil)s offset 0
) as a order by s.id, a.norm;

-- name: documents
-- The generated documents of these names, with the external ids of their passages; without passages if another
-- version is pending.
select d.id, d.source, case when d.pending_version is null then array(
    select c.external_id from chunks c where c.document_id = d.id and c.scope_id + 0 = %(scope_id)s
  ) else '{}' end as passages
from unnest(%(sources)s::text[]) as named (source)
join documents d on d.scope_id = %(scope_id)s and d.source = named.source
join document_versions v on v.document_id = d.id and v.version = coalesce(d.live_version, d.pending_version)
where v.metadata ? 'factsOf';

-- name: own_word
-- The relations of these entities that the user asserts, or that passages of `documents` state instead. Each comes
-- once, the newer one first; relations that another passage states are left out. Adjacency has the current
-- relations of an entity; the key of a statement is made of any entities that are merged with the ends.
with asked as materialized (
  select %(scope_id)s::int as scope_id, s.id, coalesce(g.root_id, s.id) as root_id
  from unnest(%(ids)s::uuid[]) as s (id)
  left join entity_merges g on g.scope_id = %(scope_id)s and g.from_id = s.id
), near as materialized (
  select distinct asked.scope_id, relation_key(asked.id, target.id, a.relation_type) as id
  from asked cross join lateral (
    select scope_id, neighbour_id, relation_type from adjacency
    where scope_id = asked.scope_id and node_id = asked.root_id and outgoing offset 0
  ) as a
  cross join lateral (
    select a.neighbour_id as id union all select g.from_id from entity_merges g
    where g.scope_id = a.scope_id and g.root_id = a.neighbour_id
  ) as target
), said as (
  select e.* from near cross join lateral (
    select * from relation_evidence
    where scope_id = near.scope_id and relation_id = near.id and chunk_id = %(nil)s offset 0
  ) as e
  union all
  select e.* from unnest(%(documents)s::uuid[]) as d (id) cross join lateral (
    select * from relation_evidence where scope_id = %(scope_id)s and document_id = d.id
      and document_id <> '00000000-0000-0000-0000-000000000000' offset 0
  ) as e where e.source_id = any(%(ids)s)
), each as materialized (
  select distinct on (relation_id) * from said order by relation_id, chunk_id
)
select source_id, target_id, relation_type, weight, description from each e
where not exists (select from relation_evidence other
  where other.scope_id = e.scope_id and other.relation_id = e.relation_id and other.chunk_id <> %(nil)s
    and other.document_id <> all(%(documents)s::uuid[]));

-- name: passages_stating
-- The generated passages that state relations instead of the user.
select distinct on (e.relation_id) e.relation_id, e.chunk_id
from unnest(%(relations)s::uuid[]) as named (id) cross join lateral (
  select * from relation_evidence
  where scope_id = %(scope_id)s and relation_id = named.id and chunk_id <> %(nil)s offset 0
) as e
join documents d on d.id = e.document_id
join document_versions v on v.document_id = d.id and v.version = d.live_version
where v.metadata ? 'factsOf' order by e.relation_id, e.chunk_id;

-- name: subjects_naming
-- The entities whose generated passages name these as objects.
select distinct e.source_id from unnest(%(ids)s::uuid[]) as target (id) cross join lateral (
  select distinct document_id from mentions
  where scope_id = %(scope_id)s and entity_id = target.id and kind = 'import' and chunk_id <> %(nil)s offset 0
) as m
join documents d on d.id = m.document_id
join document_versions v on v.document_id = d.id and v.version = d.live_version and v.metadata ? 'factsOf'
cross join lateral (
  select source_id, target_id from relation_evidence where scope_id = %(scope_id)s and document_id = d.id
    and document_id <> '00000000-0000-0000-0000-000000000000' offset 0
) as e where e.target_id = target.id;

-- name: replace_own_word
-- Delete the user's assertions that passages state now.
with gone as (
  delete from relation_evidence own using unnest(%(relations)s::uuid[], %(chunks)s::uuid[]) as stated (id, chunk_id)
  where own.scope_id = %(scope_id)s and own.relation_id = stated.id and own.chunk_id = %(nil)s
    and exists (select from relation_evidence e where e.scope_id = %(scope_id)s
      and e.relation_id = stated.id and e.chunk_id = stated.chunk_id)
  returning own.*
)
insert into changed_relations
select scope_id, source_id, target_id, relation_type, weight, -1 from gone;
