-- A passage counts once for an entity, whatever names it there and however many of its names do; it
-- counted once for each. Who is mentioned by terms alone and merged with nothing was right before.
create temporary table recounted on commit drop as
select e.scope_id, e.id, own.passages, e.shown and e.asserted_count = 0 and own.passages < 2 as hidden
from entities e cross join lateral (
  select count(distinct m.chunk_id) as passages from (
    select e.id union all select g.from_id from entity_merges g
    where g.scope_id = e.scope_id and g.root_id = e.id
  ) as names join mentions m on m.scope_id = e.scope_id and m.entity_id = names.id
    and m.chunk_id <> '00000000-0000-0000-0000-000000000000'
) as own
where e.mention_count > 1 and own.passages <> e.mention_count and (e.asserted_count > 0
  or exists (select from entity_merges g where g.scope_id = e.scope_id and g.root_id = e.id));
analyze recounted;

update entities e
set mention_count = r.passages, embedded_hash = case when not r.hidden then e.embedded_hash end
from recounted r where e.scope_id = r.scope_id and e.id = r.id;

-- What only one passage mentions is not shown any more.
with around as (
  select distinct a.scope_id, a.relation_id, a.node_id, a.neighbour_id
  from recounted r join adjacency a on a.scope_id = r.scope_id and a.node_id = r.id and a.shown
  where r.hidden
)
update adjacency a set shown = false
from around cross join lateral (values (around.node_id), (around.neighbour_id)) as ends (node)
where a.scope_id = around.scope_id and a.node_id = ends.node and a.shown
  and a.relation_id = around.relation_id;
update communities c set dirty = true
where (c.scope_id, c.id) in (select m.scope_id, m.community_id from community_members m
  join recounted r on r.hidden and r.scope_id = m.scope_id and r.id = m.entity_id);
delete from community_members m using recounted r
where r.hidden and m.scope_id = r.scope_id and m.entity_id = r.id;
delete from entity_vectors v using recounted r
where r.hidden and v.scope_id = r.scope_id and v.entity_id = r.id;

update graph_versions set version = version + 1 where scope_id in (select scope_id from recounted);
insert into graph_outbox (scope_id, user_id, kind, ids)
select scope_id, user_id, 'everything', '{}' from graph_versions
where projected and scope_id in (select scope_id from recounted);
