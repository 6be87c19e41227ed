-- name: recorded
-- The model of the stored vectors, and its prefixes of questions and passages.
select name, dimension, query_prefix, passage_prefix from embedding_space;

-- name: note_prefixes
-- Record the prefixes of questions and passages, as the owner.
update embedding_space set query_prefix = %(query)s, passage_prefix = %(passage)s;

-- name: is_whole
-- Whether every chunk has a vector.
select is_whole from embedding_space;

-- name: finish
-- Record that every chunk has a vector, if that is so, as the owner.
update embedding_space set is_whole = true where not is_whole and vectors_are_whole();

-- name: lock_session
-- Let one process at a time re-embed; the lock ends with the connection.
select pg_try_advisory_lock(%(key)s);

-- name: has_chunks
-- Whether any user has chunks, as the owner.
select exists (select from chunks);

-- name: lock
-- Let one process at a time record the model; the lock ends with the transaction.
select pg_advisory_xact_lock(%(key)s);

-- name: reset
-- Delete all vectors and record another model, as the owner.
select reset_vectors(%(name)s, %(dimension)s);

-- name: all_scopes
-- The knowledge bases of all users, as the owner.
select user_id, graph_id from graphs order by scope_id;

-- name: without_vectors
-- The next chunks of a scope without a vector.
select c.* from found_chunks c
where c.scope_id = %(scope_id)s and (%(after)s::uuid is null or c.id > %(after)s)
  and not exists (select from chunk_vectors v
    where v.partition_key = %(partition_key)s and v.scope_id = c.scope_id and v.chunk_id = c.id)
order by c.id limit %(limit)s;

-- name: add_vector
-- Store the vector of a chunk, unless the chunk was deleted meanwhile.
insert into chunk_vectors (partition_key, scope_id, chunk_id, user_id, embedding)
select %(partition_key)s, scope_id, id, user_id, %(vector)s from chunks
where scope_id = %(scope_id)s and id = %(chunk_id)s
on conflict do nothing;
