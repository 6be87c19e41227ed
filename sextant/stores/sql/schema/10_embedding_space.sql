-- The embedding model of the stored vectors: one for the whole database.

-- is_whole: whether every passage has its vector; not while all are embedded again, nor after that was interrupted.
-- query_prefix, passage_prefix: what was put before questions and passages when the vectors were made, as models
-- like E5 want it; null where that is not known. A model's folder may be moved or renamed, and the prefixes stay.
create table embedding_space (
  only_row boolean primary key default true check (only_row),
  name text not null,
  dimension int not null,
  created_at timestamptz not null default now(),
  is_whole boolean not null default true,
  query_prefix text,
  passage_prefix text
);
grant select on embedding_space to sextant_app;

create function vectors_are_whole() returns boolean language sql stable
set search_path from current
as $$
  select not exists (
    select from found_chunks c join graphs g on g.scope_id = c.scope_id
    where not exists (select from chunk_vectors v
      where v.partition_key = g.partition_key and v.scope_id = c.scope_id and v.chunk_id = c.id))
$$;
revoke execute on function vectors_are_whole() from public;

-- Empties all vectors and changes their number of dimensions, for another embedding model: vectors of another model
-- mean nothing. Views over them are dropped meanwhile. Jobs that still run with the old model lose their claim, which
-- does not count as a try. Graph databases take their graphs over again.
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
