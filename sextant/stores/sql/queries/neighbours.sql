-- name: entities
-- The entities that chunks mention, as one list for each chunk, rarest first. A merged entity has the name of its
-- root. Titles above a chunk do not count.
select asked.id, told.names, told.types
from unnest(%(ids)s::uuid[]) as asked (id) cross join lateral (
  select array_agg(name order by mention_count, name) as names,
    array_agg(entity_type order by mention_count, name) as types
  from (
    select distinct e.name, e.entity_type, e.mention_count
    from mentions m
    left join entity_merges g on g.scope_id = m.scope_id and g.from_id = m.entity_id
    join entities e on e.scope_id = m.scope_id and e.id = coalesce(g.root_id, m.entity_id)
    where m.scope_id = %(scope_id)s and m.chunk_id = asked.id and m.kind <> 'title'
      and m.document_id = (select c.document_id from chunks c
        where c.scope_id = %(scope_id)s and c.id = asked.id)
      and m.document_id <> '00000000-0000-0000-0000-000000000000'
    order by e.mention_count, e.name limit %(most)s
  ) as mentioned
) as told
where told.names is not null;

-- name: linked
-- For each chunk the others that share its entities, by inverse frequency; an entity of a hundred chunks links
-- nothing. Merged entities count as their roots.
select asked.id, near.chunk_id, near.worth
from unnest(%(ids)s::uuid[]) as asked (id) cross join lateral (
  select other.chunk_id, sum(1 / ln(1 + e.mention_count::float8)) as worth
  from (
    select distinct coalesce(g.root_id, m.entity_id) as entity_id
    from mentions m
    left join entity_merges g on g.scope_id = m.scope_id and g.from_id = m.entity_id
    where m.scope_id = %(scope_id)s and m.chunk_id = asked.id and m.kind <> 'title'
      and m.document_id = (select c.document_id from chunks c
        where c.scope_id = %(scope_id)s and c.id = asked.id)
      and m.document_id <> '00000000-0000-0000-0000-000000000000'
  ) as own
  join entities e on e.scope_id = %(scope_id)s and e.id = own.entity_id
    and e.mention_count between 2 and 100
  cross join lateral (
    select distinct m.chunk_id
    from (
      select own.entity_id as id
      union all
      select g.from_id from entity_merges g
      where g.scope_id = %(scope_id)s and g.root_id = own.entity_id
    ) as stated
    join mentions m on m.scope_id = %(scope_id)s and m.entity_id = stated.id and m.kind <> 'title'
  ) as other
  where other.chunk_id <> asked.id and other.chunk_id <> '00000000-0000-0000-0000-000000000000'
  group by other.chunk_id order by 2 desc, other.chunk_id limit %(most)s
) as near
order by asked.id, near.worth desc, near.chunk_id;

-- name: beside
-- The chunks around one in its document: the previous and next one in reading order; then, nearest first, those of
-- its section; then those directly in the section above.
with own as (
  select c.document_id, c.section_id, c.ordinal,
    (select max(n.ordinal) from chunks n
      where n.document_id = c.document_id and n.ordinal < c.ordinal) as before,
    (select min(n.ordinal) from chunks n
      where n.document_id = c.document_id and n.ordinal > c.ordinal) as after,
    (select s.parent_id from sections s join documents d on d.id = s.document_id
        and s.version = coalesce(d.live_version, d.pending_version)
      where s.document_id = c.document_id and s.id = c.section_id) as parent_id
  from chunks c where c.scope_id = %(scope_id)s and c.id = %(id)s
)
select n.id, case when n.ordinal = own.before then 'previous' when n.ordinal = own.after then 'next'
    when n.section_id = own.section_id then 'section' else 'parent' end as relation
from own join chunks n on n.document_id = own.document_id and n.scope_id = %(scope_id)s
where n.ordinal <> own.ordinal and (n.ordinal in (own.before, own.after)
  or n.section_id in (own.section_id, own.parent_id))
order by coalesce(n.ordinal in (own.before, own.after), false) desc, abs(n.ordinal - own.ordinal), n.ordinal
limit %(most)s;

-- name: mentions
-- What is told of entities, and where; not where a text merely holds their names. A merged entity has the id of its
-- root. What the user says without a passage has the nil ids.
select coalesce(g.root_id, m.entity_id) as entity_id, m.kind = 'import' as is_imported,
  coalesce(c.modality in ('table', 'scanned_table'), false) as in_table, m.document_id, m.chunk_id, m.description
from mentions m
left join chunks c on c.scope_id = %(scope_id)s and c.id = m.chunk_id
left join entity_merges g on g.scope_id = m.scope_id and g.from_id = m.entity_id
where m.scope_id = %(scope_id)s and m.kind <> 'alias' and m.entity_id in (
  select unnest(%(ids)s::uuid[])
  union all
  select from_id from entity_merges where scope_id = %(scope_id)s and root_id = any(%(ids)s::uuid[])
)
order by m.document_id, m.chunk_id
limit %(most)s;

-- name: spelled_out
-- The names that texts define abbreviations by, and where. The definition itself need not be an entity that is shown.
select coalesce(g.root_id, r.source_id) as short_id, m.entity_id, m.name, m.entity_type, m.description,
  m.document_id, m.chunk_id
from relation_evidence r
left join entity_merges g on g.scope_id = r.scope_id and g.from_id = r.source_id
join mentions m on m.scope_id = r.scope_id and m.entity_id = r.target_id and m.chunk_id = r.chunk_id
  and m.kind <> 'alias'
where r.scope_id = %(scope_id)s and r.relation_type = 'ABBREVIATES' and r.source_id in (
  select unnest(%(ids)s::uuid[])
  union all
  select from_id from entity_merges where scope_id = %(scope_id)s and root_id = any(%(ids)s::uuid[])
)
order by m.document_id, m.chunk_id
limit %(most)s;
