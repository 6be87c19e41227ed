-- name: state
-- Whether a graph database follows a graph, and whether changes wait.
select g.scope_id, coalesce(v.projected, false) as projected,
  exists (select from graph_outbox o where o.scope_id = g.scope_id) as behind
from graphs g left join graph_versions v on v.scope_id = g.scope_id
where g.user_id = %(user_id)s and g.graph_id = %(graph_id)s;

-- name: whose
-- The identity of this database: its cluster, which a restored copy does not share, and its number there; when the
-- knowledge base was created (null once it is deleted), and how often it was copied.
select (select system_identifier from pg_control_system()) || '/' || d.oid as database,
  (select created_at from graphs where scope_id = %(scope_id)s) as made_at,
  coalesce((select copied from graph_versions where scope_id = %(scope_id)s), 0) as copied
from pg_database d where d.datname = current_database();

-- name: copied
-- Record the number of the copy.
update graph_versions set copied = %(copied)s where scope_id = %(scope_id)s;

-- name: try_alone
-- Let one projector at a time copy a graph; the lock ends with the connection. 20020 is used for nothing else.
select pg_try_advisory_lock(20020, %(scope_id)s);

-- name: waiting
-- The number of ids that wait; a note that everything waits counts as one.
select coalesce(sum(greatest(cardinality(ids), 1)), 0)::bigint from graph_outbox
where scope_id = %(scope_id)s;

-- name: vectors
-- The number of entities with vectors.
select count(*) from entity_vectors where scope_id = %(scope_id)s;

-- name: take
-- The next notes; a whole copy comes first, since it repeats what changed before.
select seq, kind, ids from graph_outbox where scope_id = %(scope_id)s
order by kind <> 'everything', seq limit %(limit)s;

-- name: newest
-- The number of the newest note.
select max(seq) from graph_outbox where scope_id = %(scope_id)s;

-- name: done
-- Delete finished notes by their numbers, since one with a smaller number may be committed later.
delete from graph_outbox where scope_id = %(scope_id)s and seq = any(%(seqs)s);

-- name: note_everything
-- Note that the whole graph is to be copied.
insert into graph_outbox (scope_id, user_id, kind, ids)
select scope_id, user_id, 'everything', '{}' from graph_versions where scope_id = %(scope_id)s;

-- name: note_all_ids
-- Note all ids in portions, entities before relations. The empty note at the end blocks readers until the search
-- indexes exist. Notes of before are deleted, since everything is noted.
with stale as (
  delete from graph_outbox where scope_id = %(scope_id)s and kind <> 'everything'
)
insert into graph_outbox (scope_id, user_id, kind, ids)
select %(scope_id)s, %(user_id)s, kind, ids from (
  select rank, portion, kind, array_agg(id order by id) as ids from (
    select rank, kind, id, (row_number() over (partition by kind order by id) - 1) / 10000 as portion
    from (
      select 1 as rank, 'new entities' as kind, id from entities
      where scope_id = %(scope_id)s and shown
      union all
      select 2, 'relations', relation_id from adjacency
      where scope_id = %(scope_id)s and shown and outgoing
      union all select 3, 'communities', id from communities where scope_id = %(scope_id)s
    ) as every
  ) as portions group by rank, kind, portion
  union all select 4, 0, 'communities', '{}'
) as notes order by rank, portion;

-- name: relations_of
-- The relations of entities that have become visible.
select distinct relation_id from adjacency
where scope_id = %(scope_id)s and node_id = any(%(ids)s) and shown;

-- name: attachments
-- Normalised names, merged ids, mentioning chunks (of each merged id the first thousand, as in `chunks_of`),
-- vectors and times of entities.
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
-- Entities by id, without merged ones: if notes have both, each would return the other.
with wanted as (
  select distinct %(scope_id)s::int as scope_id, id from unnest(%(ids)s::uuid[]) as id
)
select e.* from wanted w join seen_entities e on e.scope_id = w.scope_id and e.id = w.id;
