-- HNSW over halves: numbers of two bytes instead of four, of which twice as many lie on a page. A walk costs
-- a quarter less, the index half (docs/performance.md, "Chunk search of many tenants"). Halves only choose
-- the candidates; cosines are those of the stored vectors.
--
-- A view, because an index of halves needs their length, which a function that lasts cannot state. The
-- planner puts the view's expression in its place and finds the index by it.
create function show_halves() returns void language plpgsql
set search_path from current
as $$
begin
  execute format('create view halved_vectors with (security_invoker) as
    select partition_key, scope_id, chunk_id, user_id, embedding, embedding::halfvec(%s) as halves
    from chunk_vectors', vector_length());
  grant select on halved_vectors to sextant_app;
end $$;

create function vector_length() returns int language sql stable
set search_path from current
as $$
  select atttypmod from pg_attribute
  where attrelid = 'chunk_vectors'::regclass and attname = 'embedding'
$$;

-- As in 0001, but a LangChain user's vectors are the halves, so that the search finds the index.
create or replace function show_to_langchain() returns void language plpgsql
set search_path from current
as $$
begin
  create view langchain_chunks with (security_invoker) as
  select c.id, c.text as content, v.halves as embedding, v.user_id,
    nullif(current_setting('sextant.graph_id', true), '') as graph_id,
    c.document_id::text as document_id, c.source, c.filename, c.document_title as title,
    c.section_id::text as section_id, array_to_string(c.section_path, ' > ') as section_path,
    c.page, c.start_offset, c.end_offset, c.ordinal, c.modality, c.context, c.external_id,
    c.created_at
  from halved_vectors v
  left join lateral (
    select * from found_chunks f where f.scope_id = v.scope_id and f.id = v.chunk_id offset 0
  ) c on true
  where v.partition_key = (select partition_key from graphs
      where user_id = nullif(current_setting('sextant.user_id', true), '')
        and graph_id = nullif(current_setting('sextant.graph_id', true), ''))
    and v.scope_id = (select scope_id from graphs
      where user_id = nullif(current_setting('sextant.user_id', true), '')
        and graph_id = nullif(current_setting('sextant.graph_id', true), ''));
  grant select on langchain_chunks to sextant_app;
end $$;
revoke execute on function show_halves(), vector_length() from public;
drop view langchain_chunks;
select show_halves(), show_to_langchain();

-- As in 0032, with both views.
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
  drop view langchain_chunks, halved_vectors;
  execute format('alter table chunk_vectors alter column embedding type vector(%s)', new_dimension);
  perform show_halves(), show_to_langchain();
  -- Whoever still ingests with the old model loses the claim.
  update ingestion_jobs set attempts = attempts + 1, released = released + 1, worker = null
    where worker is not null and stage not in ('done', 'failed');
  insert into embedding_space (name, dimension) values (new_name, new_dimension)
    on conflict (only_row) do update set name = excluded.name, dimension = excluded.dimension,
      created_at = now();
end $$;

-- The name of a scope's HNSW index over halves. A scope that got its partition before this migration has
-- an index of floats until something is published to it: making all of them anew here would keep a large
-- store from starting for minutes.
create function halves_index(of_scope int) returns text language sql immutable
as $$ select 'chunk_vectors_' || of_scope || '_halves' $$;
revoke execute on function halves_index(int) from public;
grant execute on function halves_index(int) to sextant_app;

-- As in 0001, but the index is of halves, also for a scope whose partition has one of floats. Rows lie by
-- id, so that the sample of nearest_chunks is a few pages. Searches go on meanwhile, writers of the scope wait.
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
    with (m = 16, ef_construction = 64)', halves_index(grown_scope), own_partition, vector_length());
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

-- The rows of a scope in the shared partition in the order in which they lie there, as entries of one key do.
-- By the primary key, in the order of ids, each row was a page to find. The + 0 is what the planner knows
-- this index by: to it the primary key looks as good.
create index chunk_vectors_small_scope on chunk_vectors_small ((scope_id + 0));

-- As before (0045), but HNSW looks at halves, and ten more than are wanted are put in order by the stored
-- vectors: halves are off by some 0.00001. The shared partition is read in the order of its rows.
create or replace function nearest_chunks(
  of_user text, of_graph text, question vector, wanted int, width int) returns bytea
language plpgsql stable security definer
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
declare
  own record;
  near bytea;
  ids uuid[];
  farthest float8;
  beam int;
begin
  select scope_id, partition_key into own from graphs
  where user_id = of_user and graph_id = of_graph;
  if not found then
    return null;
  end if;
  if own.partition_key = 0 then
    select string_agg(uuid_send(chunk_id) || float8send(1 - distance), '' order by distance, chunk_id)
    into near from (
      select chunk_id, embedding <=> question as distance from chunk_vectors_small
      where scope_id + 0 = own.scope_id
      order by embedding <=> question limit wanted
    ) as found;
    return near;
  end if;
  beam := search_width(own.partition_key, width);
  perform set_config('hnsw.ef_search', beam::text, true),
    set_config('hnsw.iterative_scan', 'strict_order', true);
  if to_regclass(halves_index(own.scope_id)) is not null then
    select string_agg(uuid_send(chunk_id) || float8send(1 - distance), '' order by distance, chunk_id),
      array_agg(chunk_id), max(distance)
    into near, ids, farthest from (
      select chunk_id, embedding <=> question as distance from (
        select chunk_id, embedding from halved_vectors
        where partition_key = own.partition_key and scope_id = own.scope_id
        order by halves <=> question::halfvec limit greatest(wanted, least(wanted + 10, beam))
      ) as candidates order by distance limit wanted
    ) as found;
  else
    select string_agg(uuid_send(chunk_id) || float8send(1 - distance), '' order by distance, chunk_id),
      array_agg(chunk_id), max(distance)
    into near, ids, farthest from (
      select chunk_id, embedding <=> question as distance from chunk_vectors
      where partition_key = own.partition_key and scope_id = own.scope_id
      order by embedding <=> question limit wanted
    ) as found;
  end if;
  if cardinality(ids) = wanted and not exists (
    select from (
      select chunk_id, embedding <=> question as distance from chunk_vectors
      where partition_key = own.partition_key and scope_id = own.scope_id
      order by chunk_id limit 256
    ) as sample where distance < farthest and chunk_id <> all (ids)
  ) then
    return near;
  end if;
  select string_agg(uuid_send(chunk_id) || float8send(1 - distance), '' order by distance, chunk_id)
  into near from (
    select chunk_id, (embedding <=> question) + 0 as distance from chunk_vectors
    where partition_key = own.partition_key and scope_id = own.scope_id
    order by 2 limit wanted
  ) as found;
  return near;
end $$;
