-- name: large
-- Whether a scope in the shared partition has so many vectors that it needs an index of its own.
select sum(chunk_count) >= %(exact_below)s
  and coalesce((select dimension <= %(longest)s from embedding_space), true)
from documents where scope_id = %(scope_id)s;

-- name: promote
-- Give the scope its own partition with an HNSW index; false when another did so meanwhile.
select promote_scope(%(scope_id)s);

-- name: tidy
-- Sort what was inserted into the gram index, which every keyword search would read through, and let
-- the planner know how large the tables have become.
select tidy_gram_index(), refresh_statistics();
