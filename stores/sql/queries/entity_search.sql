-- name: stamp
-- What tells whether a search for entities would find the same again, the moment it is, and the length
-- of the vectors that are searched.
select concat_ws(' ', g.scope_id, coalesce(graph.version, 0), coalesce(vectors.version, 0),
    extract(epoch from space.created_at)) as version,
  concat_ws(' ', g.scope_id, coalesce(graph.version, 0)) as graph_version,
  statement_timestamp() as taken_at, space.name as space,
  coalesce(space.dimension, (select nullif(atttypmod, -1) from pg_attribute
    where attrelid = 'entity_vectors'::regclass and attname = 'embedding')) as dimension
from graphs g
left join graph_versions graph on graph.scope_id = g.scope_id
left join entity_vector_versions vectors on vectors.scope_id = g.scope_id
left join embedding_space space on true
where g.user_id = %(user_id)s and g.graph_id = %(graph_id)s;
