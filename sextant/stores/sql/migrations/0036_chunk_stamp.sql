-- The stamp of a scope's chunks as before (0034), but hashed: a sum of the transactions' numbers can come
-- back where transactions end in another order than they began, ids hashed with their numbers do not.
create or replace function chunk_stamp(of_user text, of_graph text) returns bytea
language plpgsql stable
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
begin
  perform set_config('sextant.user_id', of_user, true);
  return (
    select convert_to(concat_ws(' ', count(*), bit_xor(uuid_hash_extended(id, xmin::text::bigint)),
      (select created_at from embedding_space)), 'UTF8')
    from documents
    where scope_id = (select scope_id from graphs where user_id = of_user and graph_id = of_graph));
end $$;
