-- As 0035, but at least one of 100 chunks, not of 50: since the search is held against a sample (0045), its
-- width need not keep it out of wrong regions, and the largest knowledge bases were the slowest.
create or replace function search_width(of_partition int, width int) returns int
language sql stable
set search_path from current
as $$
  select least(1000, greatest(width, (
    select reltuples / nullif(relpages, 0) * pg_relation_size(oid)
      / current_setting('block_size')::int / 100
    from pg_class where oid = to_regclass('chunk_vectors_' || of_partition)
  )))::int
$$;
