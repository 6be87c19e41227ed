-- That two terms share sentences has no direction; it goes from the smaller to the larger id. Where one of
-- them was merged it went both ways, as two relations, and counted twice among an entity's relations.
create temporary table turned on commit drop as
select scope_id, user_id, source_id, target_id, relation_key(source_id, target_id, relation_type) as id,
  relation_key(target_id, source_id, relation_type) as new_id, relation_type,
  sum(weight::numeric) as total, count(*) as times
from (
  select e.scope_id, e.user_id, e.relation_type, e.weight,
    coalesce(source.root_id, e.source_id) as source_id,
    coalesce(target.root_id, e.target_id) as target_id
  from relation_evidence e
  left join entity_merges source on source.scope_id = e.scope_id and source.from_id = e.source_id
  left join entity_merges target on target.scope_id = e.scope_id and target.from_id = e.target_id
  where e.relation_type = 'CO_OCCURS' and (source.root_id is not null or target.root_id is not null)
) as stated
where source_id > target_id
group by scope_id, user_id, source_id, target_id, relation_type;
analyze turned;

-- From both of their ends: out of the one relation, into the other, which may be new.
update adjacency a set total = a.total - t.total, weight = (a.total - t.total)::float8,
  evidence_count = a.evidence_count - t.times
from turned t
where a.scope_id = t.scope_id and a.node_id in (t.source_id, t.target_id) and a.relation_id = t.id;
delete from adjacency a using turned t
where a.scope_id = t.scope_id and a.node_id in (t.source_id, t.target_id) and a.relation_id = t.id
  and a.evidence_count <= 0;
update adjacency a set total = a.total + t.total, weight = (a.total + t.total)::float8,
  evidence_count = a.evidence_count + t.times
from turned t
where a.scope_id = t.scope_id and a.node_id in (t.source_id, t.target_id) and a.relation_id = t.new_id;
insert into adjacency (scope_id, node_id, shown, weight, relation_id, neighbour_id, outgoing, user_id,
  relation_type, total, evidence_count)
select t.scope_id, ends.node, coalesce(source.shown and target.shown, false), t.total::float8, t.new_id,
  ends.neighbour, ends.outgoing, t.user_id, t.relation_type, t.total, t.times
from turned t
left join entities source on source.scope_id = t.scope_id and source.id = t.source_id
left join entities target on target.scope_id = t.scope_id and target.id = t.target_id
cross join lateral (values (t.target_id, t.source_id, true), (t.source_id, t.target_id, false))
  as ends (node, neighbour, outgoing)
where not exists (select from adjacency a
  where a.scope_id = t.scope_id and a.node_id = t.target_id and a.relation_id = t.new_id and a.outgoing);
insert into merged_relations (scope_id, id, user_id, source_id)
select scope_id, new_id, user_id, target_id from turned on conflict do nothing;
delete from merged_relations m using turned t
where m.scope_id = t.scope_id and m.id = t.id and not exists (select from adjacency a
  where a.scope_id = t.scope_id and a.node_id = t.source_id and a.relation_id = t.id);

update entities e set degree = counted.degree
from (
  select e.scope_id, e.id, count(a.relation_id) as degree
  from (select scope_id, source_id as id from turned union select scope_id, target_id from turned) as e
  left join adjacency a on a.scope_id = e.scope_id and a.node_id = e.id and a.neighbour_id <> e.id
  group by e.scope_id, e.id
) as counted
where e.scope_id = counted.scope_id and e.id = counted.id and e.degree <> counted.degree;

update graph_versions set version = version + 1 where scope_id in (select scope_id from turned);
insert into graph_outbox (scope_id, user_id, kind, ids)
select scope_id, user_id, 'everything', '{}' from graph_versions
where projected and scope_id in (select scope_id from turned);
