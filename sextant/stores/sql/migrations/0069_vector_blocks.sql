-- The vectors of the shared partition a second time, as halves that lie side by side: a row for as many as fill
-- a page, of one scope. An exact scan spends most of its time from row to row; over blocks it takes half as long
-- (docs/performance.md, "Chunk search of many tenants"). Halves only choose the candidates; cosines are those of
-- the stored vectors.
create table vector_blocks (
  scope_id int not null references graphs on delete cascade,
  user_id text not null,
  ids uuid[] not null,
  halves halfvec[] not null  -- of unit vectors, so that no number is too large for a half
) with (toast_tuple_target = 8160);
create index on vector_blocks (scope_id);
select tenant_table('vector_blocks');
grant select, delete on vector_blocks to sextant_app;
create policy owner_fills on vector_blocks to current_user using (true);

-- As many as fill a page, of which 150 octets go to its head and the row's, and 27 beside each half: its id, its
-- length, and what it is aligned by. Of a length that does not fit a page, one, which is stored apart.
create function vectors_per_block() returns int language sql stable
set search_path from current
as $$ select greatest(1, (8192 - 150) / (2 * vector_length() + 27)) $$;

-- Blocks that hold some of `lost`, and those that are not full, become full ones without them.
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

-- Statements name the parent, or the partition: for each the triggers of the table that it names.
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

-- Each batch leaves a block that is not full; twenty of them become full ones.
create function fill_blocks(of_scope int) returns void language plpgsql security definer
set search_path from current
as $$
declare
  size int := vectors_per_block();
begin
  if (select count(*) from vector_blocks where scope_id = of_scope and cardinality(ids) < size) >= 20 then
    perform renew_blocks(of_scope, '{}');
  end if;
end $$;
revoke execute on function vectors_per_block(), renew_blocks(int, uuid[]), keep_blocks(), fill_blocks(int) from public;
grant execute on function fill_blocks(int) to sextant_app;

-- The vectors that are there, in the order of their rows.
do $$
declare
  size int := vectors_per_block();
begin
  insert into vector_blocks (scope_id, user_id, ids, halves)
  select scope_id, user_id, array_agg(chunk_id), array_agg(l2_normalize(embedding)::halfvec) from (
    select *, (row_number() over (partition by scope_id order by ctid) - 1) / size as block from chunk_vectors_small
  ) as found group by scope_id, user_id, block;
end $$;
analyze vector_blocks;

-- As before (0063), but up to fifty are found in the shared partition by blocks, ten more than are wanted, which are
-- put in order by the stored vectors. To look up more of these costs what blocks spare.
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
  direction halfvec;
begin
  select scope_id, partition_key into own from graphs
  where user_id = of_user and graph_id = of_graph;
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
        ) as rounded order by half <=> direction limit wanted + 10
      ) as candidates cross join lateral (
        select chunk_id, embedding from chunk_vectors_small
        where partition_key = 0 and scope_id = own.scope_id and chunk_id = candidates.id offset 0
      ) as stored order by distance limit wanted
    ) as found;
    return near;
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
    set_config('hnsw.iterative_scan', case when wanted * 2 > beam then 'strict_order' else 'off' end, true);
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
