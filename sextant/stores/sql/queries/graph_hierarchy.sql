-- name: try_alone
-- Let one process at a time update a graph's communities; the lock ends with the connection. It is by name, since a
-- knowledge base may be created while the lock is held.
select pg_try_advisory_lock(1597128033, hashtext(%(user_id)s || '/' || %(graph_id)s));

-- name: is_due
-- Whether communities need an update. In a graph with at least `patient` passages, new passages wait until they are
-- `share` of the earlier ones (0: nothing waits). Deleted and replaced passages, and communities without any
-- report, never wait. A document counts once it is complete.
select exists (select from communities where scope_id = %(scope_id)s and dirty and title = '')
  or exists (
    select from graph_versions v left join graph_upkeep u using (scope_id)
    cross join lateral (
      select coalesce(sum(chunk_count), 0) as there,
        coalesce(sum(chunk_count) filter (where updated_at > u.followed_at), 0) as fresh
      from documents d where d.scope_id = v.scope_id and d.status <> 'ingesting'
    ) passages
    where v.scope_id = %(scope_id)s and case when u.version = v.version
      then exists (select from communities where scope_id = %(scope_id)s and dirty)
      else u.version is null or u.passages < %(patient)s or there - fresh <> u.passages
        or fresh >= %(share)s * u.passages end);

-- name: follows
-- The state of the graph that the communities reflect.
select version, edges, modularity from graph_upkeep where scope_id = %(scope_id)s;

-- name: communities
-- The communities with their levels and parents.
select id, level, parent_id from communities where scope_id = %(scope_id)s order by level, id;

-- name: members
-- The members of communities, joined in blocks as in graph_arrays; the pairs of a community are adjacent.
select string_agg(uuid_send(community_id) || uuid_send(entity_id), '' order by community_id, entity_id)
from community_members where scope_id = %(scope_id)s
group by get_byte(uuid_send(community_id), 0) order by get_byte(uuid_send(community_id), 0);

-- name: remove
-- Delete communities.
with gone as (
  delete from communities where scope_id = %(scope_id)s and id = any(%(ids)s::uuid[])
)
delete from community_members where scope_id = %(scope_id)s and community_id = any(%(ids)s::uuid[]);

-- name: place
-- Store a community's level and parent; a new one has no report yet.
insert into communities as c (scope_id, id, user_id, level, parent_id, title, summary, findings, rating,
  dirty)
values (%(scope_id)s, %(id)s, %(user_id)s, %(level)s, %(parent_id)s, '', '', '[]', 0, true)
on conflict (scope_id, id) do update set level = excluded.level, parent_id = excluded.parent_id,
  dirty = c.dirty or %(dirty)s;

-- name: clear_members
-- Delete the members of communities.
delete from community_members where scope_id = %(scope_id)s and community_id = any(%(ids)s::uuid[]);

-- name: add_members
-- Add the members of a community, without entities that were deleted since the graph was read.
insert into community_members (scope_id, community_id, entity_id, user_id)
select e.scope_id, %(id)s::uuid, e.id, %(user_id)s
from (select %(scope_id)s::int as scope_id, unnest(%(members)s::uuid[]) as id) as member
join entities e on e.scope_id = member.scope_id and e.id = member.id
where e.shown;

-- name: moment
-- The time and number of passages before the graph is read; later passages count as new.
select now() as at, coalesce(sum(chunk_count), 0)::bigint as passages from documents
where scope_id = %(scope_id)s and status <> 'ingesting';

-- name: follow
-- Record the state of the graph that the communities reflect, and the result of the last full run.
insert into graph_upkeep as u (scope_id, user_id, version, edges, modularity, passages, followed_at)
values (%(scope_id)s, %(user_id)s, %(version)s, %(edges)s, %(modularity)s, %(passages)s, %(at)s)
on conflict (scope_id) do update set version = excluded.version, edges = excluded.edges,
  modularity = excluded.modularity, passages = excluded.passages, followed_at = excluded.followed_at,
  full_run_at = case
    when (u.edges, u.modularity) = (excluded.edges, excluded.modularity) then u.full_run_at
    else now() end;

-- name: note_projection
-- Note communities for a graph database, if one follows.
insert into graph_outbox (scope_id, user_id, kind, ids)
select scope_id, user_id, 'communities', %(ids)s::uuid[] from graph_versions
where scope_id = %(scope_id)s and projected and cardinality(%(ids)s::uuid[]) > 0;
