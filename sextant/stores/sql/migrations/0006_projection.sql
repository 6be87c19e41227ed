-- Vectors of another model mean nothing in Neo4j either: graphs that it follows are taken over anew.
alter function reset_vectors(text, int) rename to reset_record_vectors;
create function reset_vectors(new_name text, new_dimension int) returns void
language plpgsql
set search_path from current
as $$
begin
  perform reset_record_vectors(new_name, new_dimension);
  insert into graph_outbox (scope_id, user_id, kind, ids)
  select scope_id, user_id, 'everything', '{}' from graph_versions where projected;
end $$;
revoke execute on function reset_vectors(text, int) from public;
