-- As before (0067), but how many neighbours a graph has, and how wide they are looked for, is said by the caller
-- (`retrieval.hnsw_m`, `hnsw_ef_construction`); who says nothing gets what 0067 had.
drop function promote_scope(int);
create function promote_scope(grown_scope int, m int default 8, ef_construction int default 128) returns boolean
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
    with (m = %s, ef_construction = %s)',
    halves_index(grown_scope), own_partition, vector_length(), m, ef_construction);
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

revoke execute on function promote_scope(int, int, int) from public;
grant execute on function promote_scope(int, int, int) to sextant_app;
