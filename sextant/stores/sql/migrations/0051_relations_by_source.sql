-- Relations are looked up by their source and id. Ids are hashes: in an index by id alone each came to
-- another page, which was a seventh of what an import cost. Rows come in the order of their nodes, and so
-- to this one; the source of an id is known from what states it (relation_evidence).
create unique index adjacency_source on adjacency (scope_id, node_id, relation_id) where outgoing;
drop index adjacency_relation;

-- The sources of relations that statements about merged entities count for: those statements have ids of
-- their own, so it may be that none tells this one. A row too many does no harm, an id has one source; it
-- goes with its relation.
create table merged_relations (
  scope_id int not null,
  id uuid not null,
  user_id text not null,
  source_id uuid not null,
  primary key (scope_id, id)
);
select tenant_table('merged_relations'::regclass);
grant select, insert, update, delete on merged_relations to sextant_app;

-- From either end, step by step: an `or` over both compared every relation with every decision.
with roots as materialized (
  select distinct scope_id, root_id as id from entity_merges
)
insert into merged_relations (scope_id, id, user_id, source_id)
select a.scope_id, a.relation_id, a.user_id, a.node_id
from roots r join adjacency a on a.scope_id = r.scope_id and a.node_id = r.id
where a.outgoing
union
select a.scope_id, a.relation_id, a.user_id, a.neighbour_id
from roots r join adjacency a on a.scope_id = r.scope_id and a.node_id = r.id
where not a.outgoing;
