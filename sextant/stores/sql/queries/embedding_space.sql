-- name: recorded
-- The space that the stored vectors come from, and what was written before questions and passages.
select name, dimension, query_prefix, passage_prefix from embedding_space;

-- name: note_prefixes
-- What is written before questions and passages from here on; run as owner.
update embedding_space set query_prefix = %(query)s, passage_prefix = %(passage)s;

-- name: is_whole
-- Whether every passage has its vector.
select is_whole from embedding_space;

-- name: finish
-- Note that every passage has its vector, where it has; run as owner.
update embedding_space set is_whole = true where not is_whole and vectors_are_whole();

-- name: lock_session
-- One process at a time embeds everything anew; held until it is given back or its connection ends.
select pg_try_advisory_lock(%(key)s);

-- name: has_chunks
-- Whether any tenant has chunks, whose vectors would mean nothing to another model; run as owner.
select exists (select from chunks);

-- name: lock
-- One process at a time decides which space it is; held until the transaction ends.
select pg_advisory_xact_lock(%(key)s);

-- name: reset
-- Forget all vectors and take those of another model from here on; run as owner.
select reset_vectors(%(name)s, %(dimension)s);

-- name: all_scopes
-- Every knowledge base of every tenant; run as owner.
select user_id, graph_id from graphs order by scope_id;

-- name: without_vectors
-- Chunks of a scope that have no vector yet, in pages.
select c.* from found_chunks c
where c.scope_id = %(scope_id)s and (%(after)s::uuid is null or c.id > %(after)s)
  and not exists (select from chunk_vectors v
    where v.partition_key = %(partition_key)s and v.scope_id = c.scope_id and v.chunk_id = c.id)
order by c.id limit %(limit)s;

-- name: add_vector
-- The vector of a chunk, unless the chunk was deleted meanwhile.
insert into chunk_vectors (partition_key, scope_id, chunk_id, user_id, embedding)
select %(partition_key)s, scope_id, id, user_id, %(vector)s from chunks
where scope_id = %(scope_id)s and id = %(chunk_id)s
on conflict do nothing;
