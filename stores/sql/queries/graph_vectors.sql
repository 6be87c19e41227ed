-- name: to_embed
-- Entities that readers see and that have no vector of what they are called and said to be.
select id, name || E'\n' || description as text, text_hash from entities
where scope_id = %(scope_id)s and shown and embedded_hash is distinct from text_hash
order by id limit %(limit)s;

-- name: add_vector
-- The vector of an entity, unless its text has changed meanwhile.
with current as (
  update entities set embedded_hash = text_hash
  where scope_id = %(scope_id)s and id = %(id)s and shown and text_hash = %(text_hash)s
  returning scope_id, id, user_id
)
insert into entity_vectors (scope_id, entity_id, user_id, embedding)
select scope_id, id, user_id, %(vector)s from current
on conflict (scope_id, entity_id) do update set embedding = excluded.embedding;

-- name: note_projection
-- A graph database takes these over, if one follows.
insert into graph_outbox (scope_id, user_id, kind, ids)
select scope_id, user_id, 'entities', %(ids)s from graph_versions
where scope_id = %(scope_id)s and projected and cardinality(%(ids)s::uuid[]) > 0;
