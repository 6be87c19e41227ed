-- name: state
-- Whether a graph database follows a graph, and whether it has something to take over yet.
select g.scope_id, coalesce(v.projected, false) as projected,
  exists (select from graph_outbox o where o.scope_id = g.scope_id) as behind
from graphs g left join graph_versions v on v.scope_id = g.scope_id
where g.user_id = %(user_id)s and g.graph_id = %(graph_id)s;

-- name: whose
-- This database among all: its cluster, which a restored copy does not share, and its number there.
-- And when the record made the knowledge base, nothing once it is gone, and how often it was copied.
select (select system_identifier from pg_control_system()) || '/' || d.oid as database,
  (select created_at from graphs where scope_id = %(scope_id)s) as made_at,
  coalesce((select copied from graph_versions where scope_id = %(scope_id)s), 0) as copied
from pg_database d where d.datname = current_database();

-- name: copied
-- A graph database has taken something over, and its copy bears this number.
update graph_versions set copied = %(copied)s where scope_id = %(scope_id)s;

-- name: try_alone
-- One projector at a time for a graph, gone with the connection; 20020 is for nothing else.
select pg_try_advisory_lock(20020, %(scope_id)s);

-- name: waiting
-- How much there is to take over: ids, and notes that everything is.
select coalesce(sum(greatest(cardinality(ids), 1)), 0)::bigint from graph_outbox
where scope_id = %(scope_id)s;

-- name: vectors
-- How many entities have vectors.
select count(*) from entity_vectors where scope_id = %(scope_id)s;

-- name: take
-- What comes next. A whole graph goes before what has changed meanwhile, for its rows are written as if
-- nothing were there.
select seq, kind, ids from graph_outbox where scope_id = %(scope_id)s
order by kind <> 'everything', kind not in ('load entities', 'load relations'), seq
limit %(limit)s;

-- name: newest
-- The number of the newest note.
select max(seq) from graph_outbox where scope_id = %(scope_id)s;

-- name: done
-- These have been taken over. By their numbers, since one of a smaller number may yet be committed.
delete from graph_outbox where scope_id = %(scope_id)s and seq = any(%(seqs)s);

-- name: note_everything
-- A graph database has to take over the whole graph.
insert into graph_outbox (scope_id, user_id, kind, ids)
select scope_id, user_id, 'everything', '{}' from graph_versions where scope_id = %(scope_id)s;

-- name: note_all_ids
-- Everything, in portions: entities before the relations between them. The empty note at the end keeps
-- readers away until the indexes for searching are there. Notes of a load that was broken off go.
with stale as (
  delete from graph_outbox
  where scope_id = %(scope_id)s and kind in ('load entities', 'load relations')
)
insert into graph_outbox (scope_id, user_id, kind, ids)
select %(scope_id)s, %(user_id)s, kind, ids from (
  select rank, portion, kind, array_agg(id order by id) as ids from (
    select rank, kind, id, (row_number() over (partition by kind order by id) - 1) / 10000 as portion
    from (
      select 1 as rank, 'load entities' as kind, id from entities
      where scope_id = %(scope_id)s and shown
      union all
      select 2, 'load relations', relation_id from adjacency
      where scope_id = %(scope_id)s and shown and outgoing
      union all select 3, 'communities', id from communities where scope_id = %(scope_id)s
    ) as every
  ) as portions group by rank, kind, portion
  union all select 4, 0, 'communities', '{}'
) as notes order by rank, portion;

-- name: relations_of
-- Relations of entities that have come into sight.
select distinct relation_id from adjacency
where scope_id = %(scope_id)s and node_id = any(%(ids)s) and shown;

-- name: attachments
-- What hangs on entities: normalised names that mean them, ids merged into them, chunks that mention
-- them (of each merged id the first thousand, as `chunks_of` reads), their vectors, when they came.
with wanted as (
  select distinct %(scope_id)s::int as scope_id, id from unnest(%(ids)s::uuid[]) as id
), stated as (
  select scope_id, id, id as stated_id from wanted
  union all
  select w.scope_id, w.id, g.from_id from wanted w
  join entity_merges g on g.scope_id = w.scope_id and g.root_id = w.id
), named as (
  select s.id, array_agg(distinct a.norm) as norms from stated s
  join aliases a on a.scope_id = s.scope_id and a.entity_id = s.stated_id group by s.id
), joined as (
  select id, array_agg(stated_id) as merged from stated where stated_id <> id group by id
), found as (
  select s.id, array_agg(distinct m.chunk_id) as chunks from stated s cross join lateral (
    select chunk_id from mentions
    where scope_id = s.scope_id and entity_id = s.stated_id and chunk_id > %(nil)s
    order by chunk_id limit 1000
  ) as m group by s.id
)
select w.id, coalesce(norms, '{}') as norms, coalesce(merged, '{}') as merged,
  coalesce(chunks, '{}') as chunks, v.embedding, e.created_at
from wanted w
join entities e on e.scope_id = w.scope_id and e.id = w.id
left join entity_vectors v on v.scope_id = w.scope_id and v.entity_id = w.id
left join named on named.id = w.id
left join joined on joined.id = w.id
left join found on found.id = w.id;

-- name: communities
-- Communities by id with their members and the vectors of their reports.
select c.id, c.level, c.parent_id, c.title, c.summary, c.findings, c.rating, c.embedding,
  array(select m.entity_id from community_members m
    where m.scope_id = c.scope_id and m.community_id = c.id) as entity_ids
from communities c where c.scope_id = %(scope_id)s and c.id = any(%(ids)s);

-- name: entities
-- Entities by id; what was merged into another is none of its own: where a first load has notes of both, each
-- would bring the other one.
with wanted as (
  select distinct %(scope_id)s::int as scope_id, id from unnest(%(ids)s::uuid[]) as id
)
select e.* from wanted w join seen_entities e on e.scope_id = w.scope_id and e.id = w.id;
