-- The vector lane: embeddings of chunks, exact in small knowledge bases, by HNSW in large ones.

-- Apart from the texts, so that an exact scan reads little. One partition is shared by all small knowledge bases,
-- and each large one has its own with an HNSW index (promote_scope). The number of dimensions is that of the
-- embedding model (reset_vectors).
create table chunk_vectors (
  partition_key int not null,
  scope_id int not null,
  chunk_id uuid not null,
  user_id text not null,
  embedding vector(384) not null,
  primary key (partition_key, scope_id, chunk_id)
) partition by list (partition_key);
select tenant_table('chunk_vectors');
grant select, insert, update, delete on chunk_vectors to sextant_app;
create policy owner_searches on chunk_vectors for select to current_user using (true);

-- The application reaches a partition through chunk_vectors only, so it has no rights on it.
create table chunk_vectors_small partition of chunk_vectors for values in (0);
select tenant_table('chunk_vectors_small');
create policy owner_searches on chunk_vectors_small for select to current_user using (true);
-- The rows of a knowledge base in the order in which they are stored; in the order of the primary key each row was
-- another page. By the `+ 0` the planner tells this index from the primary key.
create index chunk_vectors_small_scope on chunk_vectors_small ((scope_id + 0));

create function vector_length() returns int language sql stable
set search_path from current
as $$
  select atttypmod from pg_attribute
  where attrelid = 'chunk_vectors'::regclass and attname = 'embedding'
$$;
revoke execute on function vector_length() from public;

-- Embeddings as halves, by which HNSW chooses its candidates: two bytes a number instead of four, so that twice as
-- many are on a page. A view, because an index of halves needs their number of dimensions, which a lasting function
-- cannot state; the planner puts the view's expression in its place and so finds the index.
create function show_halves() returns void language plpgsql
set search_path from current
as $$
begin
  execute format('create view halved_vectors with (security_invoker) as
    select partition_key, scope_id, chunk_id, user_id, embedding, embedding::halfvec(%s) as halves
    from chunk_vectors', vector_length());
  grant select on halved_vectors to sextant_app;
end $$;
revoke execute on function show_halves() from public;
select show_halves();

-- The same rows for LangChain's PGVectorStore (stores/langchain.py), which sets sextant.graph_id as well.
create function show_to_langchain() returns void language plpgsql
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
revoke execute on function show_to_langchain() from public;
select show_to_langchain();

-- The name of the HNSW index of a knowledge base.
create function halves_index(of_scope int) returns text language sql immutable
as $$ select 'chunk_vectors_' || of_scope || '_halves' $$;
revoke execute on function halves_index(int) from public;
grant execute on function halves_index(int) to sextant_app;

-- Gives a large knowledge base a partition and an HNSW index. Rows are stored by id, so that the sample of
-- nearest_chunks is a few pages. Searches go on meanwhile: they read where their snapshot's partition_key says;
-- writers of the knowledge base wait. Returns false when there is nothing to do.
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

-- How many candidates HNSW considers: at least `width`, and one of 100 chunks of the partition, up to the 1,000 that
-- pgvector allows. Chunks are counted as the planner does: as many on each page as when the statistics were made.
create function search_width(of_partition int, width int) returns int
language sql stable
set search_path from current
as $$
  select least(1000, greatest(width, (
    select reltuples / nullif(relpages, 0) * pg_relation_size(oid)
      / current_setting('block_size')::int / 100
    from pg_class where oid = to_regclass('chunk_vectors_' || of_partition)
  )))::int
$$;
revoke execute on function search_width(int, int) from public;

-- The vectors of the shared partition a second time: halves side by side, as many in a row as fill a page. An
-- exact scan spends most of its time on going from row to row, and takes half as long over blocks. They only choose
-- the candidates; similarities are those of the stored vectors. Halves are of unit vectors, so that no number is too
-- large for one.
create table vector_blocks (
  scope_id int not null references graphs on delete cascade,
  user_id text not null,
  ids uuid[] not null,
  halves halfvec[] not null
) with (toast_tuple_target = 8160);
create index on vector_blocks (scope_id);
select tenant_table('vector_blocks');
grant select, delete on vector_blocks to sextant_app;
create policy owner_fills on vector_blocks to current_user using (true);

-- As many as fill a page, of which 150 octets go to its head and the row's, and 27 to what is stored with each
-- half: its id, its length and its alignment. Where not even one fits it is stored out of the row.
create function vectors_per_block() returns int language sql stable
set search_path from current
as $$ select greatest(1, (8192 - 150) / (2 * vector_length() + 27)) $$;
revoke execute on function vectors_per_block() from public;

-- Merges the blocks that are not full, and those that contain some of `lost`, without these.
create function renew_blocks(of_scope int, lost uuid[]) returns void language plpgsql
set search_path from current
as $$
declare
  size int := vectors_per_block();
begin
  -- Whoever waits here sees the blocks that another made.
  perform pg_advisory_xact_lock(hashtext('vector_blocks'), of_scope);
  with holding as (
    select distinct b.ctid as place
    from vector_blocks b cross join lateral unnest(b.ids) as held(id) join unnest(lost) as gone(id) using (id)
    where b.scope_id = of_scope
    union
    select ctid from vector_blocks where scope_id = of_scope and cardinality(ids) < size
  ), opened as (
    delete from vector_blocks b using holding where b.scope_id = of_scope and b.ctid = holding.place
    returning b.user_id, b.ids, b.halves
  )
  insert into vector_blocks (scope_id, user_id, ids, halves)
  select of_scope, user_id, array_agg(id), array_agg(half) from (
    select user_id, id, half, (row_number() over (partition by user_id) - 1) / size as block
    from opened cross join lateral unnest(ids, halves) as one(id, half)
    where not exists (select from unnest(lost) as gone(id) where gone.id = one.id)
  ) as kept group by user_id, block;
end $$;
revoke execute on function renew_blocks(int, uuid[]) from public;

-- Each batch leaves a block that is not full; twenty of them are merged.
create function fill_blocks(of_scope int) returns void
language plpgsql security definer
set search_path from current
as $$
declare
  size int := vectors_per_block();
begin
  if exists (select from graphs where scope_id = of_scope and user_id = current_tenant())
      and (select count(*) from vector_blocks where scope_id = of_scope and cardinality(ids) < size) >= 20 then
    perform renew_blocks(of_scope, '{}');
  end if;
end $$;
revoke execute on function fill_blocks(int) from public;
grant execute on function fill_blocks(int) to sextant_app;

-- Blocks follow every change of the shared partition.
create function keep_blocks() returns trigger language plpgsql security definer
set search_path from current
as $$
declare
  size int := vectors_per_block();
begin
  if tg_op in ('DELETE', 'UPDATE') then
    perform renew_blocks(scope_id, array_agg(chunk_id)) from gone where partition_key = 0 group by scope_id;
  end if;
  if tg_op in ('INSERT', 'UPDATE') then
    insert into vector_blocks (scope_id, user_id, ids, halves)
    select scope_id, user_id, array_agg(chunk_id), array_agg(l2_normalize(embedding)::halfvec) from (
      select *, (row_number() over (partition by scope_id) - 1) / size as block from come where partition_key = 0
    ) as added group by scope_id, user_id, block;
  end if;
  if tg_op = 'TRUNCATE' then
    truncate vector_blocks;
  end if;
  return null;
end $$;
revoke execute on function keep_blocks() from public;

-- A statement fires the triggers of the table that it names, which is the parent or the partition.
do $$
declare
  own text;
begin
  foreach own in array array['chunk_vectors', 'chunk_vectors_small'] loop
    execute format('create trigger block_insert after insert on %I referencing new table as come '
      'for each statement execute function keep_blocks()', own);
    execute format('create trigger block_update after update on %I referencing old table as gone new table as come '
      'for each statement execute function keep_blocks()', own);
    execute format('create trigger block_delete after delete on %I referencing old table as gone '
      'for each statement execute function keep_blocks()', own);
    execute format('create trigger block_truncate after truncate on %I '
      'for each statement execute function keep_blocks()', own);
  end loop;
end $$;

-- The nearest chunks as one value: ids and cosines, nearest first, and of equally near ones the least ids first.
-- One function that answers with one value, so that all lanes of a search go in one statement, without a
-- transaction to begin, a tenant to set and a plan to make. It runs as the owner and checks the tenant first.
--
-- In the shared partition up to fifty are found by blocks, ten more than are wanted, which are then ordered by the
-- stored vectors; more of them are read from their rows, since to look up the candidates would cost more.
--
-- In a partition of its own HNSW chooses, again ten more than wanted. Its walk starts at one point and may end far
-- from the question, where a hundred candidates are worse than a tenth of the partition; so what it found is
-- compared with a sample of 256 chunks (the first by id, for ids are random). One of them that is nearer than the
-- last that was found, and was not found, proves the walk wrong, and the search is repeated exactly; so is one that
-- finds too few. A walk that may be continued (hnsw.iterative_scan) keeps all that it passed over in order, a tenth
-- of its time, so this is off where twice as many are considered as are wanted.
create function nearest_chunks(
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
  direction halfvec;
begin
  select scope_id, partition_key into own from graphs
  where of_user = current_tenant() and user_id = of_user and graph_id = of_graph;
  if not found then
    return null;
  end if;
  if own.partition_key = 0 and wanted <= 50 then
    direction := l2_normalize(question)::halfvec;
    select string_agg(uuid_send(chunk_id) || float8send(1 - distance), '' order by distance, chunk_id)
    into near from (
      select chunk_id, embedding <=> question as distance from (
        select id from (
          select unnest(b.ids) as id, unnest(b.halves) as half from vector_blocks b where b.scope_id = own.scope_id
        ) as rounded order by half <=> direction, id limit wanted + 10
      ) as candidates cross join lateral (
        select chunk_id, embedding from chunk_vectors_small
        where partition_key = 0 and scope_id = own.scope_id and chunk_id = candidates.id offset 0
      ) as stored order by distance, chunk_id limit wanted
    ) as found;
    return near;
  end if;
  if own.partition_key = 0 then
    select string_agg(uuid_send(chunk_id) || float8send(1 - distance), '' order by distance, chunk_id)
    into near from (
      select chunk_id, embedding <=> question as distance from chunk_vectors_small
      where scope_id + 0 = own.scope_id
      order by embedding <=> question, chunk_id limit wanted
    ) as found;
    return near;
  end if;
  beam := search_width(own.partition_key, width);
  perform set_config('hnsw.ef_search', beam::text, true),
    set_config('hnsw.iterative_scan', case when wanted * 2 > beam then 'strict_order' else 'off' end, true);
  if to_regclass(halves_index(own.scope_id)) is not null then
    select string_agg(uuid_send(chunk_id) || float8send(1 - distance), '' order by distance, chunk_id),
      array_agg(chunk_id order by distance, chunk_id), max(distance)
    into near, ids, farthest from (
      select chunk_id, embedding <=> question as distance from (
        select chunk_id, embedding from halved_vectors
        where partition_key = own.partition_key and scope_id = own.scope_id
        order by halves <=> question::halfvec
        fetch first (greatest(wanted, least(wanted + 10, beam))) rows with ties
      ) as candidates order by distance, chunk_id limit wanted
    ) as found;
  else
    select string_agg(uuid_send(chunk_id) || float8send(1 - distance), '' order by distance, chunk_id),
      array_agg(chunk_id order by distance, chunk_id), max(distance)
    into near, ids, farthest from (
      select chunk_id, distance from (
        select chunk_id, embedding <=> question as distance from chunk_vectors
        where partition_key = own.partition_key and scope_id = own.scope_id
        order by embedding <=> question fetch first (wanted) rows with ties
      ) as candidates order by distance, chunk_id limit wanted
    ) as found;
  end if;
  if cardinality(ids) = wanted and not exists (
    select from (
      select chunk_id, embedding <=> question as distance from chunk_vectors
      where partition_key = own.partition_key and scope_id = own.scope_id
      order by chunk_id limit 256
    ) as sample where (distance, chunk_id) < (farthest, ids[wanted]) and chunk_id <> all (ids)
  ) then
    return near;
  end if;
  select string_agg(uuid_send(chunk_id) || float8send(1 - distance), '' order by distance, chunk_id)
  into near from (
    select chunk_id, (embedding <=> question) + 0 as distance from chunk_vectors
    where partition_key = own.partition_key and scope_id = own.scope_id
    order by 2, chunk_id limit wanted
  ) as found;
  return near;
end $$;
revoke execute on function nearest_chunks(text, text, vector, int, int) from public;
grant execute on function nearest_chunks(text, text, vector, int, int) to sextant_app;
