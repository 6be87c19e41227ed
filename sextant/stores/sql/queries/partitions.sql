-- name: settle
-- Find the common grams of a scope that has doubled; fill the blocks of its vectors; sort new grams into the index,
-- which searches would scan otherwise; update the statistics; and return whether the scope needs an index: in the
-- shared partition by the number of its vectors, in its own if it lacks one of half vectors.
select g.scope_id, to_regclass(halves_index(g.scope_id)) is null
  and (g.partition_key <> 0 or (
    select sum(chunk_count) from documents d where d.scope_id = g.scope_id) >= %(exact_below)s)
  and coalesce((select dimension <= %(longest)s from embedding_space), true),
  count_grams(g.scope_id), fill_blocks(g.scope_id), tidy_gram_index(), refresh_statistics()
from (select scope_id, partition_key from graphs
  where user_id = %(user_id)s and graph_id = %(graph_id)s for key share) g;

-- name: promote
-- Move the scope to its own partition with an HNSW index, or give its partition a new index; false if another
-- process did so. Then count its grams.
select promote_scope(%(scope_id)s, %(m)s, %(ef_construction)s), count_grams(%(scope_id)s);

-- name: look_at_sizes
-- Update the statistics of the tables' sizes.
select refresh_statistics();
