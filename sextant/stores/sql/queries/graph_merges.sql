-- name: workspace
-- Temporary tables of the entities whose evidence moves, and of the statements about them.
do $$ begin
  if to_regclass('pg_temp.moving') is null then
    create temporary table moving (scope_id int, id uuid primary key);
    create temporary table moving_relations (
      scope_id int, source_id uuid, target_id uuid, relation_type text, weight float8
    );
  end if;
end $$;

-- name: choose
-- All entities that are merged with the named ones.
insert into moving
with roots as (
  select distinct %(scope_id)s::int as scope_id, coalesce((select g.root_id from entity_merges g
    where g.scope_id = %(scope_id)s and g.from_id = named.id), named.id) as id
  from unnest(%(ids)s::uuid[]) as named (id)
)
select scope_id, id from roots
union select g.scope_id, g.from_id from roots r
join entity_merges g on g.scope_id = r.scope_id and g.root_id = r.id;

-- name: collect_relations
-- Evidence of relations of those entities. Adjacency knows the relations as they are now; what was
-- stated of them has a key made of any entities that are one with their ends, turned where it has no
-- direction. The keys are made first:
-- under row-level security a comparison with the result of a function cannot use an index.
insert into moving_relations
with touched as (
  select distinct a.scope_id, case when a.outgoing then a.node_id else a.neighbour_id end as source_id,
    case when a.outgoing then a.neighbour_id else a.node_id end as target_id, a.relation_type
  from moving m join adjacency a
    on a.scope_id = m.scope_id and a.node_id = m.id and a.shown in (true, false)
), keys as materialized (
  select distinct t.scope_id, relation_key(ends.source_id, ends.target_id, t.relation_type) as id
  from touched t
  cross join lateral (
    select t.source_id as id union all select g.from_id from entity_merges g
    where g.scope_id = t.scope_id and g.root_id = t.source_id) as source
  cross join lateral (
    select t.target_id as id union all select g.from_id from entity_merges g
    where g.scope_id = t.scope_id and g.root_id = t.target_id) as target
  cross join lateral (values (source.id, target.id, false), (target.id, source.id, true))
    as ends (source_id, target_id, turned)
  where not ends.turned or t.relation_type = %(co_occurs)s
)
select e.scope_id, e.source_id, e.target_id, e.relation_type, e.weight
from keys k join relation_evidence e on e.scope_id = k.scope_id and e.relation_id = k.id;

-- name: note_mentions
-- Note their mentions with this sign.
insert into changed_mentions
select m.scope_id, m.entity_id, m.kind, m.name, m.entity_type, m.chunk_id,
  m.description, m.external_id, %(sign)s
from moving join mentions m on m.scope_id = moving.scope_id and m.entity_id = moving.id;

-- name: note_aliases
-- Note their aliases.
insert into changed_aliases
select a.scope_id, a.entity_id, a.name, %(sign)s
from moving join aliases a on a.scope_id = moving.scope_id and a.entity_id = moving.id;

-- name: note_relations
-- Note their relations.
insert into changed_relations
select scope_id, source_id, target_id, relation_type, weight, %(sign)s from moving_relations;

-- name: clear
-- Empty the temporary tables.
with a as (delete from moving) delete from moving_relations;

-- name: settle_mentions
-- Settle the removed mentions under the old merges.
update changed_mentions set settled = true;

-- name: settle_aliases
-- Settle the removed aliases.
update changed_aliases set settled = true;

-- name: settle_relations
-- Settle the removed relations.
update changed_relations set settled = true;

-- name: merge
-- Merge all entities that are one with `from` into `into`, unless they are merged already.
with ends as (
  select coalesce(f.root_id, %(from_id)s::uuid) as from_root,
    coalesce(i.root_id, %(into_id)s::uuid) as into_root
  from (values (1)) as one (row)
  left join entity_merges f on f.scope_id = %(scope_id)s and f.from_id = %(from_id)s
  left join entity_merges i on i.scope_id = %(scope_id)s and i.from_id = %(into_id)s
), moved as (
  update entity_merges g set root_id = into_root from ends
  where g.scope_id = %(scope_id)s and g.root_id = from_root and from_root <> into_root
)
insert into entity_merges (scope_id, from_id, into_id, root_id, user_id, reason, automatic)
select %(scope_id)s, from_root, %(into_id)s, into_root, %(user_id)s, %(reason)s, %(automatic)s
from ends where from_root <> into_root;

-- name: unmerge
-- Separate an entity, together with those that were merged into it.
with recursive own as (
  select from_id from entity_merges where scope_id = %(scope_id)s and into_id = %(from_id)s
  union
  select g.from_id from own join entity_merges g
    on g.scope_id = %(scope_id)s and g.into_id = own.from_id
), freed as (
  update entity_merges g set root_id = %(from_id)s from own
  where g.scope_id = %(scope_id)s and g.from_id = own.from_id
)
delete from entity_merges where scope_id = %(scope_id)s and from_id = %(from_id)s;

-- name: automatic
-- Those of these entities that are merged automatically.
select from_id from entity_merges
where scope_id = %(scope_id)s and from_id = any(%(ids)s) and automatic order by from_id;
