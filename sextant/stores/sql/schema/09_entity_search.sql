-- Search of entities by full text and by vectors; and the same for psql, PostgREST and Supabase.

-- Entities by full text: those with all words of the question, or, where none has, those with any; ranked by cover
-- density (Clarke, Cormack and Tudhope 2000). As the owner, because a policy would keep the planner from the
-- index; so the tenant is checked first. The question is never parsed as a
-- query: plainto_tsquery takes words, and `any` is made of its own text.
create function rank_entities(
  wanted_scopes int[], question text, match_count int, wanted_types text[] default null,
  since timestamptz default null, until timestamptz default null, known_at timestamptz default null)
returns table (scope_id int, entity_id uuid, rank float8)
language plpgsql stable security definer
set search_path from current
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
as $$
declare
  own_scopes int[];
  own_words tsquery;
  every tsquery := plainto_tsquery('pg_catalog.english', search_words(question));
  wanted tsquery;
begin
  select array_agg(g.scope_id), string_agg('''#' || g.scope_id || '''', ' | ')::tsquery
  into own_scopes, own_words
  from graphs g where g.scope_id = any(wanted_scopes)
    and g.user_id = nullif(current_setting('sextant.user_id', true), '');
  if own_scopes is null or numnode(every) = 0 then
    return;
  end if;
  foreach wanted in array array[every, replace(every::text, ' & ', ' | ')::tsquery] loop
    return query
    select e.scope_id, e.id, ts_rank_cd(e.fts, wanted)::float8 as rank
    from entities e
    where e.fts @@ (wanted && own_words) and e.shown and e.scope_id + 0 = any(own_scopes)
      and (wanted_types is null or lower(e.entity_type) = any(wanted_types))
      and (since is null or e.created_at >= since) and (until is null or e.created_at < until)
      and (known_at is null or e.created_at <= known_at)
    order by 3 desc, 2 limit greatest(match_count, 0);
    if found then
      return;
    end if;
  end loop;
end $$;
revoke execute on function rank_entities(int[], text, int, text[], timestamptz, timestamptz, timestamptz) from public;
grant execute on function rank_entities(int[], text, int, text[], timestamptz, timestamptz, timestamptz) to sextant_app;

-- The views and functions from here on show what the session's sextant.user_id may see, whoever asks:
-- `set sextant.user_id = 'me'`. graph_id is the knowledge base; without it all of the user's are searched.

-- A function, because the view must be dropped when the number of dimensions changes.
create function show_knowledge_entity() returns void language plpgsql
set search_path from current
as $$
begin
  create view knowledge_entity with (security_invoker) as
  select e.id, e.user_id, g.graph_id, e.name, e.description, e.entity_type, v.embedding,
    e.fts as fts_vector, e.degree, e.mention_count, e.external_id, e.created_at
  from entities e join graphs g on g.scope_id = e.scope_id
  left join entity_vectors v on v.scope_id = e.scope_id and v.entity_id = e.id
  where e.shown;
  grant select on knowledge_entity to sextant_app;
end $$;
revoke execute on function show_knowledge_entity() from public;
select show_knowledge_entity();

create view relates_to with (security_invoker) as
select a.relation_id as id, a.user_id, g.graph_id, a.node_id as source_entity_id,
  a.neighbour_id as target_entity_id, a.relation_type, a.weight, a.evidence_count
from adjacency a join graphs g on g.scope_id = a.scope_id
where a.outgoing and a.shown;
grant select on relates_to to sextant_app;

-- Exact: HNSW indexes are of one knowledge base, and this may search several.
create function vector_search_entities(
  query_embedding vector, user_id text, match_count int default 10,
  match_threshold float default 0.5, graph_id text default null)
returns table (id uuid, name text, description text, entity_type text, similarity float)
language plpgsql stable
set search_path from current
as $$
begin
  return query
  select ke.id, ke.name, ke.description, ke.entity_type, 1 - (v.embedding <=> query_embedding)
  from entity_vectors v
  join graphs g on g.scope_id = v.scope_id
  join entities ke on ke.scope_id = v.scope_id and ke.id = v.entity_id and ke.shown
  where g.user_id = vector_search_entities.user_id
    and (vector_search_entities.graph_id is null or g.graph_id = vector_search_entities.graph_id)
    and 1 - (v.embedding <=> query_embedding) > match_threshold
  order by v.embedding <=> query_embedding, ke.id limit greatest(match_count, 0);
end $$;

-- What to_tsquery accepts: words with &, |, !, <-> and brackets between them, and :* behind one; null for words
-- alone and for what is no tsquery, which are read as words and never an error.
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
grant execute on function entity_query(text) to sextant_app;

-- A tsquery, or words, as rank_entities takes them; a tsquery without the index of full text, which is out of reach
-- under row-level security.
create function fulltext_search_entities(
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
grant execute on function vector_search_entities(vector, text, int, float, text),
  fulltext_search_entities(text, text, int, text) to sextant_app;
