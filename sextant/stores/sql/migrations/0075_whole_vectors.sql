-- Whether every passage has its vector: not while all are embedded anew, nor after that was broken off.
alter table embedding_space add column is_whole boolean not null default true;

create function vectors_are_whole() returns boolean language sql stable
set search_path from current
as $$
  select not exists (
    select from found_chunks c join graphs g on g.scope_id = c.scope_id
    where not exists (select from chunk_vectors v
      where v.partition_key = g.partition_key and v.scope_id = c.scope_id and v.chunk_id = c.id))
$$;
revoke execute on function vectors_are_whole() from public;

update embedding_space set is_whole = vectors_are_whole();

alter function reset_vectors(text, int) rename to reset_all_vectors;
create function reset_vectors(new_name text, new_dimension int) returns void
language plpgsql
set search_path from current
as $$
begin
  perform reset_all_vectors(new_name, new_dimension);
  update embedding_space set is_whole = not exists (select from chunks);
end $$;
revoke execute on function reset_vectors(text, int) from public;
