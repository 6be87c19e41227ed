-- As before (0035), but what HNSW found is checked against 256 other chunks. Its walk begins at one point
-- and may end in a region far from the question, where a hundred candidates are worse than a tenth of the
-- partition: one question of 50 in some builds of a graph, none in others, for levels are drawn by lot
-- (docs/performance.md, "Chunk search of many tenants"). The first chunks by id are a sample, for ids are
-- random; one that is nearer than the last that was found, and was not found, proves the search wrong, and
-- it is repeated exactly. So is one that comes back short.
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
      where partition_key = 0 and scope_id = own.scope_id
      order by embedding <=> question limit wanted
    ) as found;
    return near;
  end if;
  perform set_config('hnsw.ef_search', search_width(own.partition_key, width)::text, true),
    set_config('hnsw.iterative_scan', 'strict_order', true);
  select string_agg(uuid_send(chunk_id) || float8send(1 - distance), '' order by distance, chunk_id),
    array_agg(chunk_id), max(distance)
  into near, ids, farthest from (
    select chunk_id, embedding <=> question as distance from chunk_vectors
    where partition_key = own.partition_key and scope_id = own.scope_id
    order by embedding <=> question limit wanted
  ) as found;
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
