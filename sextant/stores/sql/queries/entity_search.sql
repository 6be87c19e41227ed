-- name: stamp
-- A text that changes with the results of entity searches, the current time, and the model of the vectors.
select concat_ws(' ', g.scope_id, coalesce(written.graph, 0), coalesce(written.vectors, 0),
    extract(epoch from space.created_at)) as version,
  statement_timestamp() as taken_at, space.name as space,
  coalesce(space.dimension, (select nullif(atttypmod, -1) from pg_attribute
    where attrelid = 'entity_vectors'::regclass and attname = 'embedding')) as dimension
from graphs g
cross join lateral (
  select bit_xor(generation) filter (where kind = 'graph') as graph,
    bit_xor(generation) filter (where kind = 'vectors') as vectors
  from scope_generations where scope_id = g.scope_id
) as written
left join embedding_space space on true
where g.user_id = %(user_id)s and g.graph_id = %(graph_id)s;
