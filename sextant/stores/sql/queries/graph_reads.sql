-- name: by_alias
-- Entities by the ids that follow from names, and by alias. `places` are the positions of the keys and ids in the
-- list of names.
with wanted as (
  select distinct %(scope_id)s::int as scope_id, place, id, key, norm
  from unnest(%(ids)s::uuid[], %(keys)s::bigint[], %(norms)s::text[])
    with ordinality as wanted (id, key, norm, place)
), found as (
  select place, id from wanted
  union all
  select w.place, a.entity_id from wanted w
  join aliases a on a.scope_id = w.scope_id and a.key = w.key and a.norm = w.norm
), roots as (
  select distinct %(scope_id)s::int as scope_id, place, coalesce((select g.root_id
    from entity_merges g where g.scope_id = %(scope_id)s and g.from_id = found.id), id) as id
  from found
)
select f.place, e.* from roots f
join seen_entities e on e.scope_id = f.scope_id and e.id = f.id
order by f.place, e.id;

-- name: by_vector
-- The nearest entities by cosine, ties by id.
with nearest as materialized (
  select scope_id, entity_id, embedding <=> %(vector)s as distance from entity_vectors
  where scope_id = %(scope_id)s order by embedding <=> %(vector)s, entity_id limit %(k)s
)
select 1 - n.distance as score, e.* from nearest n
join seen_entities e on e.scope_id = n.scope_id and e.id = n.entity_id
order by n.distance, e.id;

-- name: by_vector_index
-- The nearest entities by the scope's index, with all that are as near as the last, since it does not know ids.
with nearest as materialized (
  select * from (
    select scope_id, entity_id, embedding <=> %(vector)s as distance from entity_vectors
    where scope_id = %(scope_id)s order by embedding <=> %(vector)s fetch first (%(k)s) rows with ties
  ) as candidates order by distance, entity_id limit %(k)s
)
select 1 - n.distance as score, e.* from nearest n
join seen_entities e on e.scope_id = n.scope_id and e.id = n.entity_id
order by n.distance, e.id;

-- name: by_vector_among
-- The nearest of the entities that match a filter. All distances are computed, since an index would return the
-- nearest of all entities; entities are looked up from the nearest on, until there are enough.
with nearest as materialized (
  select v.scope_id, v.entity_id, v.distance from (
    select scope_id, entity_id, (embedding <=> %(vector)s) + 0 as distance from entity_vectors
    where scope_id = %(scope_id)s order by distance, entity_id offset 0
  ) as v cross join lateral (
    select from entities own where own.scope_id = v.scope_id and own.id = v.entity_id and own.shown
      and (%(types)s::text[] is null or lower(own.entity_type) = any(%(types)s))
      and (%(since)s::timestamptz is null or own.created_at >= %(since)s)
      and (%(until)s::timestamptz is null or own.created_at < %(until)s) limit 1
  ) as passes
  order by v.distance, v.entity_id limit %(k)s
)
select 1 - n.distance as score, e.* from nearest n
join seen_entities e on e.scope_id = n.scope_id and e.id = n.entity_id
order by n.distance, e.id;

-- name: by_words
-- Entities by full text (rank_entities).
select r.rank as score, e.* from rank_entities(array[%(scope_id)s], %(question)s, %(k)s, %(types)s::text[],
  %(since)s::timestamptz, %(until)s::timestamptz) as r
join seen_entities e on e.scope_id = r.scope_id and e.id = r.entity_id
order by r.rank desc, e.id;

-- name: entities
-- Those of some entities that match a filter, in the requested order; a merged entity is replaced by its root.
-- `offset 0` makes the planner look them up one by one; otherwise it reads the whole graph.
with wanted as (
  select %(scope_id)s::int as scope_id, coalesce((select g.root_id from entity_merges g
    where g.scope_id = %(scope_id)s and g.from_id = asked.id), asked.id) as id,
    min(asked.place) as place
  from unnest(%(ids)s::uuid[]) with ordinality as asked (id, place) group by 2
)
select e.* from wanted w
join entities own on own.scope_id = w.scope_id and own.id = w.id
cross join lateral (
  select * from seen_entities where scope_id = w.scope_id and id = w.id offset 0
) as e
where (%(types)s::text[] is null or lower(own.entity_type) = any(%(types)s))
  and (%(since)s::timestamptz is null or own.created_at >= %(since)s)
  and (%(until)s::timestamptz is null or own.created_at < %(until)s)
order by w.place;

-- name: top_entities
-- The entities with most relations.
select e.* from (
  select scope_id, id from entities where scope_id = %(scope_id)s and shown
  order by degree desc, mention_count desc, id limit %(k)s
) as top join seen_entities e on e.scope_id = top.scope_id and e.id = top.id
order by e.degree desc, e.mention_count desc, e.id;

-- name: relations
-- Relations by id, in the requested order, with descriptions and chunks. A relation is stored with its source,
-- which a statement names, or merged_relations. Step by step, since a planner without statistics of a new scope
-- took seconds for ten.
with asked as (
  select distinct %(scope_id)s::int as scope_id, id, place
  from unnest(%(ids)s::uuid[]) with ordinality as given (id, place)
), known as materialized (
  select asked.*, coalesce((
      select e.source_id from relation_evidence e
      where e.scope_id = asked.scope_id and e.relation_id = asked.id limit 1
    ), (
      select m.source_id from merged_relations m
      where m.scope_id = asked.scope_id and m.id = asked.id
    )) as source_id
  from asked
), found as materialized (
  select known.place, a.scope_id, a.relation_id as id, a.node_id as source_id,
    a.neighbour_id as target_id, a.relation_type, a.total::float8 as weight
  from known join adjacency a
    on a.scope_id = known.scope_id and a.node_id = known.source_id and a.relation_id = known.id
    and a.outgoing
  where a.shown
), stated as (
  select scope_id, id, id as stated_id from found
  union
  select f.scope_id, f.id, relation_key(ends.source_id, ends.target_id, f.relation_type)
  from found f
  cross join lateral (select f.source_id as id union all select g.from_id from entity_merges g
    where g.scope_id = f.scope_id and g.root_id = f.source_id) as source
  cross join lateral (select f.target_id as id union all select g.from_id from entity_merges g
    where g.scope_id = f.scope_id and g.root_id = f.target_id) as target
  cross join lateral (values (source.id, target.id, false), (target.id, source.id, true))
    as ends (source_id, target_id, turned)
  where (source.id <> f.source_id or target.id <> f.target_id)
    and (not ends.turned or f.relation_type = %(co_occurs)s)
), said as materialized (
  select s.id, e.chunk_id, e.description from stated s cross join lateral (
    select chunk_id, description from relation_evidence
    where scope_id = s.scope_id and relation_id = s.stated_id order by chunk_id limit 1000
  ) as e
), words as (
  select id, left(string_agg(description, E'\n'
    order by length(description) desc, description collate "C"), 2000) as description
  from (select distinct id, description from said where description <> '') as different group by id
), places as (
  select id, array_agg(distinct chunk_id order by chunk_id) as chunk_ids
  from said where chunk_id <> %(nil)s group by id
)
select f.id, f.source_id, f.target_id, f.relation_type, f.weight,
  coalesce(words.description, '') as description, coalesce(places.chunk_ids, '{}') as chunk_ids
from found f left join words using (id) left join places using (id)
order by f.place;

-- name: neighbourhood
-- The heaviest relations of each start, and of each end reached; adjacency_heaviest has this order, so a hop reads
-- only what it returns.
with starts as materialized (
  select distinct %(scope_id)s::int as scope_id, coalesce((select g.root_id from entity_merges g
    where g.scope_id = %(scope_id)s and g.from_id = asked.id), asked.id) as id
  from unnest(%(ids)s::uuid[]) as asked (id)
), near as materialized (
  select a.* from starts s cross join lateral (
    select scope_id, node_id, relation_id, neighbour_id, weight, outgoing, relation_type
    from adjacency
    where scope_id = s.scope_id and node_id = s.id and shown
    order by weight desc, relation_id limit %(per_node)s
  ) as a
), ends as materialized (
  select e.scope_id, e.id
  from (select distinct scope_id, neighbour_id as id from near) as reached
  join entities e on e.scope_id = reached.scope_id and e.id = reached.id and e.degree <= %(hub_degree)s
  where %(depth)s > 1 and reached.id not in (select id from starts)
), far as (
  select a.* from ends s cross join lateral (
    select scope_id, node_id, relation_id, neighbour_id, weight, outgoing, relation_type
    from adjacency
    where scope_id = s.scope_id and node_id = s.id and shown
    order by weight desc, relation_id limit %(per_node)s
  ) as a
), hops as (
  select distinct on (relation_id) * from (
    select *, 1 as depth from near union all select *, 2 from far
  ) as all_hops order by relation_id, depth
)
select relation_id, case when outgoing then node_id else neighbour_id end as source_id,
  case when outgoing then neighbour_id else node_id end as target_id, relation_type, weight, depth
from hops order by depth, weight desc, relation_id;

-- name: communities
-- The communities of a level, or of all levels, with members; those without a report are left out.
select c.id, c.level, c.parent_id, c.title, c.summary, c.findings, c.rating, (
    select array_agg(m.entity_id order by m.entity_id) from community_members m
    where m.scope_id = c.scope_id and m.community_id = c.id) as entity_ids
from communities c
where c.scope_id = %(scope_id)s and (%(level)s::int is null or c.level = %(level)s)
  and c.title <> ''
order by c.level, c.rating desc, c.id;

-- name: reports
-- All communities with a report, with members and the report's vector.
select c.id, c.level, c.parent_id, c.title, c.summary, c.findings, c.rating, (
    select array_agg(m.entity_id order by m.entity_id) from community_members m
    where m.scope_id = c.scope_id and m.community_id = c.id) as entity_ids,
  case when c.embedding is not null then uuid_send(c.id) || vector_send(c.embedding) end as vector
from communities c where c.scope_id = %(scope_id)s and c.title <> ''
order by c.level, c.rating desc, c.id;

-- name: options
-- Set the timeout.
select set_config('statement_timeout', %(timeout)s, true);

-- name: vector_options
-- Set the width of the HNSW search; the scope is a constant, so that the planner finds the scope's own index.
select to_regclass(%(index)s) is not null, set_config('hnsw.ef_search', %(ef_search)s, true),
  set_config('hnsw.iterative_scan', 'strict_order', true),
  set_config('plan_cache_mode', 'force_custom_plan', true);

-- name: exactly
-- Use no approximate index for the rest of this transaction.
select set_config('enable_indexscan', 'off', true);
