-- As before (0060), but the graph is built with more care (ef_construction 128, not 64), and then half as many
-- neighbours do (m 8, not 16): a walk looks at fewer vectors for the same recall, a quarter less of its time
-- (docs/performance.md, "Chunk search of many tenants"). Graphs that are there stay as they are: making them
-- anew takes minutes in a large store.
create or replace function promote_scope(grown_scope int) returns boolean
language plpgsql security definer
set search_path from current
set maintenance_work_mem = '1GB'
as $$
declare
  own_partition text := 'chunk_vectors_' || grown_scope;
  shared boolean;
begin
  select partition_key = 0 into shared from graphs where scope_id = grown_scope
    and user_id = nullif(current_setting('sextant.user_id', true), '') for no key update;
  if not found or to_regclass(halves_index(grown_scope)) is not null then
    return false;
  end if;
  if shared then
    execute format('create table %I (like chunk_vectors including all, check (partition_key = %s))',
      own_partition, grown_scope);
    execute format('insert into %I select %s, scope_id, chunk_id, user_id, embedding
      from chunk_vectors_small where partition_key = 0 and scope_id = %2$s order by chunk_id',
      own_partition, grown_scope);
    perform tenant_table(own_partition::regclass);
  end if;
  execute format('create index %I on %I using hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops)
    with (m = 8, ef_construction = 128)', halves_index(grown_scope), own_partition, vector_length());
  execute format('drop index if exists %I', own_partition || '_embedding_idx');
  execute format('analyze %I', own_partition);  -- else the planner thinks it empty and sorts it
  if shared then
    execute format('alter table chunk_vectors attach partition %I for values in (%s)',
      own_partition, grown_scope);
    delete from chunk_vectors_small where partition_key = 0 and scope_id = grown_scope;
    update graphs set partition_key = grown_scope where scope_id = grown_scope;
  end if;
  return true;
end $$;
