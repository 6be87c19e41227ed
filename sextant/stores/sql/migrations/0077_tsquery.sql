-- fulltext_search_entities takes what to_tsquery takes: words with &, |, !, <-> and brackets between them, and
-- :* behind one. Words alone are looked for all together, then any of them, as before. What is no tsquery is
-- read as words, never as an error.
create function entity_query(asked text) returns tsquery language plpgsql stable
set search_path from current
as $$
declare
  part text;
  words tsquery;
  composed text := '';
begin
  if asked !~ '[&|!()]|<->|:\*' then
    return null;
  end if;
  for part in select one[1] from regexp_matches(asked, '(<->|[&|!()]|:\*|(?:(?!<->|:\*)[^&|!()])+)', 'g') as one loop
    if part in ('<->', '&', '|', '!', '(', ')', ':*') then
      composed := composed || part;
    else
      words := plainto_tsquery('pg_catalog.english', search_words(part));
      if numnode(words) > 1 then
        composed := composed || '(' || words::text || ')';
      elsif numnode(words) = 1 then
        composed := composed || words::text;
      end if;
    end if;
  end loop;
  return composed::tsquery;
exception when syntax_error then
  return null;
end $$;
revoke execute on function entity_query(text) from public;

-- As rank_entities is, in one query; the index of full text is out of its reach behind row-level security.
create or replace function fulltext_search_entities(
  search_query text, user_id text, match_count int default 20, graph_id text default null)
returns table (id uuid, name text, description text, entity_type text, rank float)
language plpgsql stable
set search_path from current
as $$
#variable_conflict use_column
declare
  wanted tsquery := entity_query(search_query);
begin
  if wanted is null then
    return query
    select e.id, e.name, e.description, e.entity_type, r.rank
    from rank_entities(
      array(select g.scope_id from graphs g where g.user_id = fulltext_search_entities.user_id
        and (fulltext_search_entities.graph_id is null
          or g.graph_id = fulltext_search_entities.graph_id)),
      fulltext_search_entities.search_query, fulltext_search_entities.match_count) as r
    join entities e on e.scope_id = r.scope_id and e.id = r.entity_id
    order by r.rank desc, e.id;
  else
    return query
    select e.id, e.name, e.description, e.entity_type, ts_rank_cd(e.fts, wanted)::float as rank
    from entities e join graphs g on g.scope_id = e.scope_id
    where g.user_id = fulltext_search_entities.user_id and e.shown and e.fts @@ wanted
      and (fulltext_search_entities.graph_id is null
        or g.graph_id = fulltext_search_entities.graph_id)
    order by ts_rank_cd(e.fts, wanted) desc, e.id limit greatest(match_count, 0);
  end if;
end $$;
grant execute on function entity_query(text) to sextant_app;
