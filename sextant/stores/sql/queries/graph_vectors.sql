-- name: to_embed
-- Visible entities without a vector of their current name and description: first those whose text has changed, then
-- as many new ones as the limit allows.
with stale as (
  select id, name, description, text_hash from entities
  where scope_id = %(scope_id)s and shown and embedded_hash <> text_hash
  order by degree desc, id limit %(limit)s
), fresh as (
  select id, name, description, text_hash from entities
  where scope_id = %(scope_id)s and shown and embedded_hash is null
  order by degree desc, id limit least(%(limit)s, greatest(0,
    %(most)s - (select count(*) from entity_vectors where scope_id = %(scope_id)s)))
)
select id, name || E'\n' || description as text, text_hash
from (select * from stale union all select * from fresh) as waiting limit %(limit)s;

-- name: count_to_embed
-- The number of entities that `to_embed` returns in all.
select count(embedded_hash) + least(count(*) - count(embedded_hash), greatest(0,
  %(most)s - (select count(*) from entity_vectors where scope_id = %(scope_id)s)))
from entities
where scope_id = %(scope_id)s and shown and embedded_hash is distinct from text_hash;

-- name: add_vectors
-- Store the vectors of entities, except of those whose text has changed meanwhile.
with held as materialized (
  select e.id, a.embedding
  from unnest(%(ids)s::uuid[], %(hashes)s::uuid[], %(vectors)s::vector[]) as a (id, text_hash, embedding)
  join entities e on e.scope_id = %(scope_id)s and e.id = a.id and e.text_hash = a.text_hash
  where e.shown order by e.id for update of e
), current as (
  update entities e set embedded_hash = e.text_hash from held
  where e.scope_id = %(scope_id)s and e.id = held.id
  returning e.scope_id, e.id, e.user_id, held.embedding
)
insert into entity_vectors (scope_id, entity_id, user_id, embedding)
select scope_id, id, user_id, embedding from current
on conflict (scope_id, entity_id) do update set embedding = excluded.embedding;

-- name: note_projection
-- Note entities for a graph database, if one follows.
insert into graph_outbox (scope_id, user_id, kind, ids)
select scope_id, user_id, 'entities', %(ids)s from graph_versions
where scope_id = %(scope_id)s and projected and cardinality(%(ids)s::uuid[]) > 0;

-- name: large
-- Whether a scope has enough vectors for an index, and none yet.
select count(*) >= %(exact_below)s and to_regclass(%(index)s) is null
  and coalesce((select dimension <= %(longest)s from embedding_space), true)
from (select from entity_vectors where scope_id = %(scope_id)s limit %(exact_below)s) as counted;

-- name: create_index
-- Create an HNSW index over the entities of one scope, as the owner and outside of a transaction, so that nobody
-- waits. Names and numbers are inserted as identifiers and literals.
create index concurrently {index} on sextant.entity_vectors
using hnsw (embedding vector_cosine_ops) with (m = {m}, ef_construction = {ef_construction})
where scope_id = {scope_id};

-- name: drop_index
-- Drop the index of an interrupted build.
drop index concurrently if exists sextant.{index};
