-- The migrations of before the first release became one schema (sql/schema). What differs: reset_vectors is one
-- function, where each migration that added vectors had wrapped the one before.
drop function reset_vectors(text, int), reset_all_vectors(text, int), reset_projected_vectors(text, int),
  reset_record_vectors(text, int), reset_chunk_vectors(text, int);
create function reset_vectors(new_name text, new_dimension int) returns void
language plpgsql
set search_path from current
as $$
declare
  own_partition text;
  own_index regclass;
begin
  drop view langchain_chunks, halved_vectors, knowledge_entity;
  for own_partition in select 'chunk_vectors_' || scope_id from graphs where partition_key <> 0 loop
    execute format('drop table %I', own_partition);
  end loop;
  update graphs set partition_key = 0 where partition_key <> 0;
  truncate chunk_vectors, staged_chunks;
  execute format('alter table chunk_vectors alter column embedding type vector(%s)', new_dimension);

  for own_index in select indexrelid from pg_index
    where indrelid = 'entity_vectors'::regclass and indpred is not null loop
    execute format('drop index %s', own_index);
  end loop;
  truncate entity_vectors;
  execute format('alter table entity_vectors alter column embedding type vector(%s)', new_dimension);
  update entities set embedded_hash = null where embedded_hash is not null;
  update communities set embedding = null where embedding is not null;
  insert into graph_outbox (scope_id, user_id, kind, ids)
  select scope_id, user_id, 'everything', '{}' from graph_versions where projected;

  perform show_halves(), show_to_langchain(), show_knowledge_entity();
  update ingestion_jobs set attempts = attempts + 1, released = released + 1, worker = null
    where worker is not null and stage not in ('done', 'failed');
  insert into embedding_space (name, dimension, is_whole)
  values (new_name, new_dimension, not exists (select from chunks))
    on conflict (only_row) do update set name = excluded.name, dimension = excluded.dimension,
      is_whole = excluded.is_whole, created_at = now();
end $$;
revoke execute on function reset_vectors(text, int) from public;
