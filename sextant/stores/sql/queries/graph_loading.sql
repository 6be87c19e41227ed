-- name: workspace
-- Where COPY brings what was worked out, in the order of the indexes it goes into. A join that sorts
-- would lose that order; the planner, which knows nothing of these tables, takes one for cheap.
set local enable_mergejoin = off;
create temporary table loading_entities (
  id uuid, name text, entity_type text, description text, external_id text, start_offset int,
  end_offset int, tokens bigint[], asserted boolean, degree bigint
) on commit drop;
create temporary table loading_texts (number int, said text) on commit drop;
create temporary table loading_relations (
  id uuid, source_id uuid, target_id uuid, relation_type int, description int, weight float8
) on commit drop;
create temporary table loading_ends (
  node_id uuid, neighbour_id uuid, relation_id uuid, relation_type int, weight float8, total numeric,
  shown boolean, outgoing boolean
) on commit drop;

-- name: copy_entities
-- Binary, by id.
copy loading_entities from stdin (format binary);

-- name: copy_texts
-- Types and descriptions of relations, each once, by number; binary.
copy loading_texts from stdin (format binary);

-- name: copy_relations
-- Binary, by id.
copy loading_relations from stdin (format binary);

-- name: copy_ends
-- Binary, in the order of `adjacency_heaviest`.
copy loading_ends from stdin (format binary);

-- name: load_mentions
-- By the user's own word.
insert into mentions (scope_id, entity_id, chunk_id, kind, surface, user_id, document_id, name,
  entity_type, description, external_id, start_offset, end_offset)
select %(scope_id)s, id, %(nil)s, 'import', 0, %(user_id)s, %(nil)s, name, entity_type, description,
  external_id, start_offset, end_offset
from loading_entities where asserted;

-- name: load_names
-- Each entity is called what the user calls it.
insert into entity_names (scope_id, entity_id, user_id, name, entity_type, spare, times, tokens)
select %(scope_id)s, id, %(user_id)s, name, entity_type, false, 1, tokens
from loading_entities where asserted;

-- name: load_entities
-- Also those that are only an end of a relation.
insert into entities (scope_id, id, user_id, name, entity_type, description, external_id,
  mention_count, asserted_count, degree)
select %(scope_id)s, id, %(user_id)s, name, entity_type, left(description, 2000), external_id, 0,
  asserted::int, degree
from loading_entities;

-- name: load_evidence
-- What the user says of relations.
insert into relation_evidence (scope_id, relation_id, chunk_id, user_id, document_id, source_id,
  target_id, relation_type, description, weight)
select %(scope_id)s, r.id, %(nil)s, %(user_id)s, %(nil)s, r.source_id, r.target_id, t.said, d.said,
  r.weight
from loading_relations r
join loading_texts t on t.number = r.relation_type join loading_texts d on d.number = r.description;

-- name: load_adjacency
-- Relations from both of their ends.
insert into adjacency (scope_id, node_id, shown, weight, relation_id, neighbour_id, outgoing,
  user_id, relation_type, total, evidence_count)
select %(scope_id)s, e.node_id, e.shown, e.weight, e.relation_id, e.neighbour_id, e.outgoing,
  %(user_id)s, t.said, e.total, 1
from loading_ends e join loading_texts t on t.number = e.relation_type;
