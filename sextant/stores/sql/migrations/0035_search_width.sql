-- How many candidates HNSW looks at in a partition: at least `width`, and one of 50 chunks, up to the 1,000
-- that pgvector allows. What a recall of 0.99 takes grows with the partition where a question is of none
-- of its topics (docs/performance.md, "Chunk search of many tenants"). Chunks are counted as the planner
-- does: as many on each page as when the statistics were made.
create function search_width(of_partition int, width int) returns int
language sql stable
set search_path from current
as $$
  select least(1000, greatest(width, (
    select reltuples / nullif(relpages, 0) * pg_relation_size(oid)
      / current_setting('block_size')::int / 50
    from pg_class where oid = to_regclass('chunk_vectors_' || of_partition)
  )))::int
$$;
revoke execute on function search_width(int, int) from public;

-- As before (0028), but for the width, which is now the least: the nearest chunks as one value, ids and
-- cosines, nearest first. Exact in the shared partition; HNSW, which goes on until enough are found, in
-- one of the scope's own, and where that comes back short, exact there, too.
create or replace function nearest_chunks(
  of_user text, of_graph text, question vector, wanted int, width int) returns bytea
language plpgsql stable security definer
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
declare
  own record;
  near bytea;
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
  select string_agg(uuid_send(chunk_id) || float8send(1 - distance), '' order by distance, chunk_id)
  into near from (
    select chunk_id, embedding <=> question as distance from chunk_vectors
    where partition_key = own.partition_key and scope_id = own.scope_id
    order by embedding <=> question limit wanted
  ) as found;
  if octet_length(near) < 24 * wanted then
    select string_agg(uuid_send(chunk_id) || float8send(1 - distance), '' order by distance, chunk_id)
    into near from (
      select chunk_id, (embedding <=> question) + 0 as distance from chunk_vectors
      where partition_key = own.partition_key and scope_id = own.scope_id
      order by 2 limit wanted
    ) as found;
  end if;
  return near;
end $$;
