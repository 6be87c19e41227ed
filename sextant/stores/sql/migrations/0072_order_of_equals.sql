-- As before (0069), but of equally near chunks those of the least ids are found, wherever they lie and whatever
-- found them: copies of one text came and went at the end of a page. Of HNSW's candidates all that are as near as
-- the last come along, and the sample tells whether the walk left out a lesser id among these.
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
