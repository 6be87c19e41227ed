-- What a hundred thousand characters are called is a mistake rather than a name: full text reads the
-- first thousand of a name, and the first four thousand of a description (the record keeps 2,000).
create or replace function entity_words(scope_id int, name text, description text) returns tsvector
language sql immutable parallel safe
begin atomic
  select setweight(to_tsvector('pg_catalog.english'::regconfig, search_words(left(name, 1000))), 'A')
    || to_tsvector('pg_catalog.english'::regconfig, search_words(left(description, 4000)))
    || ('''#' || scope_id || '''')::tsvector;
end;
