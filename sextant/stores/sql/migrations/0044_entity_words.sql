-- The same words as before (0018); what turns a number into text is immutable here, as it was not with
-- `||`, and so the planner puts the function's body where it is called.
create or replace function entity_words(scope_id int, name text, description text) returns tsvector
language sql immutable parallel safe
begin atomic
  select setweight(to_tsvector('pg_catalog.english'::regconfig, search_words(left(name, 1000))), 'A')
    || to_tsvector('pg_catalog.english'::regconfig, search_words(left(description, 4000)))
    || ('''#' || scope_id::text || '''')::tsvector;
end;
