-- name: entities
-- What chunks mention, as one list a chunk: names and types, what the fewest chunks mention first. A
-- merged entity goes by the name it was merged into. That a chunk stands under a title mentions nothing.
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
-- For each chunk the others that mention the most of what it does; what few chunks mention counts
-- most (inverse frequency), what a hundred mention links nothing.
select asked.id, near.chunk_id, near.worth
from unnest(%(ids)s::uuid[]) as asked (id) cross join lateral (
  select other.chunk_id, sum(1 / ln(1 + e.mention_count::float8)) as worth
  from (
    select distinct entity_id from mentions
    where scope_id = %(scope_id)s and chunk_id = asked.id and kind <> 'title'
      and document_id = (select c.document_id from chunks c
        where c.scope_id = %(scope_id)s and c.id = asked.id)
      and document_id <> '00000000-0000-0000-0000-000000000000'
  ) as own
  join entities e on e.scope_id = %(scope_id)s and e.id = own.entity_id
    and e.mention_count between 2 and 100
  cross join lateral (
    select distinct m.chunk_id from mentions m
    where m.scope_id = %(scope_id)s and m.entity_id = own.entity_id and m.kind <> 'title'
  ) as other
  where other.chunk_id <> asked.id and other.chunk_id <> '00000000-0000-0000-0000-000000000000'
  group by other.chunk_id order by 2 desc, other.chunk_id limit %(most)s
) as near
order by asked.id, near.worth desc, near.chunk_id;
