-- As 0001, but a new embedding model costs nobody a try: a job that waits has no claim to lose, and one
-- that loses it is at no fault. A first model, too, is a new one, when uploads came before any worker.
create or replace function reset_chunk_vectors(new_name text, new_dimension int) returns void
language plpgsql
set search_path from current
as $$
declare own_partition text;
begin
  for own_partition in select 'chunk_vectors_' || scope_id from graphs where partition_key <> 0 loop
    execute format('drop table %I', own_partition);
  end loop;
  update graphs set partition_key = 0 where partition_key <> 0;
  truncate chunk_vectors, staged_chunks;
  drop view langchain_chunks;
  execute format('alter table chunk_vectors alter column embedding type vector(%s)', new_dimension);
  perform show_to_langchain();
  -- Whoever still ingests with the old model loses the claim.
  update ingestion_jobs set attempts = attempts + 1, released = released + 1, worker = null
    where worker is not null and stage not in ('done', 'failed');
  insert into embedding_space (name, dimension) values (new_name, new_dimension)
    on conflict (only_row) do update set name = excluded.name, dimension = excluded.dimension,
      created_at = now();
end $$;
