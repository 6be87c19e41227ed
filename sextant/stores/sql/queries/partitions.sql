-- name: settle
-- See which grams are common in a scope that has doubled; fill the blocks of its vectors; sort
-- what was inserted into the gram index, which every keyword search would read through; let the planner know how
-- large the tables have become; and see whether the scope needs an index: in the shared partition because it has
-- so many vectors, in its own because that has none of halves. Its deletion waits: that has the
-- blocks' rows before their lock.
select g.scope_id, to_regclass(halves_index(g.scope_id)) is null
  and (g.partition_key <> 0 or (
    select sum(chunk_count) from documents d where d.scope_id = g.scope_id) >= %(exact_below)s)
  and coalesce((select dimension <= %(longest)s from embedding_space), true),
  count_grams(g.scope_id), fill_blocks(g.scope_id), tidy_gram_index(), refresh_statistics()
from (select scope_id, partition_key from graphs
  where user_id = %(user_id)s and graph_id = %(graph_id)s for key share) g;

-- name: promote
-- Give the scope its own partition with an HNSW index, or its partition a new one; false when another did so
-- meanwhile. Then its grams are counted.
select promote_scope(%(scope_id)s, %(m)s, %(ef_construction)s), count_grams(%(scope_id)s);

-- name: look_at_sizes
-- Let the planner know how large the tables have become.
select refresh_statistics();
