-- Entities found by the words of their names and descriptions, and the names under which seed 001 knows
-- the tables and functions, for whoever works with psql, PostgREST or Supabase.

-- Words apart: every pair of neighbouring ideographs is a word, one alone is one too, and what is
-- neither letter, digit nor ASCII is a space, for the parser of full text takes other scripts' marks for
-- letters where the database's locale is C. Compatibility forms (full-width letters) become plain.
create function search_words(body text) returns text language plpgsql immutable parallel safe as $$
declare
  characters text[];
  words text := '';
  here text;
  after text;
  inside boolean := false;
begin
  if octet_length(body) = length(body) then
    return body;
  end if;
  body := regexp_replace(normalize(body, nfkc),
    '[\u0080-\u00bf\u00d7\u00f7\u02b9-\u02ff\u2000-\u2bff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3030\u30fb\ue000-\uf8ff\ufe10-\ufe6f\uff00-\uffff\U0001f000-\U0001faff\U000e0000-\U0010ffff]',
    ' ', 'g');
  characters := string_to_array(body, null);
  for place in 1 .. coalesce(array_length(characters, 1), 0) loop
    here := characters[place];
    if here ~ '[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]' then
      after := characters[place + 1];
      if after ~ '[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]' then
        words := words || ' ' || here || after;
      elsif not inside then
        words := words || ' ' || here;
      end if;
      inside := true;
    else
      words := words || case when inside then ' ' else '' end || here;
      inside := false;
    end if;
  end loop;
  return words;
end $$;

-- What an entity is found by: its name before its description (weights A and D of ts_rank_cd, 1.0 and
-- 0.1), English stemmed. The number of the scope is a word of it, which no text can hold: so one index
-- serves all tenants, and a frequent word does not cost what others say with it.
create function entity_words(scope_id int, name text, description text) returns tsvector
language sql immutable parallel safe
begin atomic
  select setweight(to_tsvector('pg_catalog.english'::regconfig, search_words(name)), 'A')
    || to_tsvector('pg_catalog.english'::regconfig, search_words(description))
    || ('''#' || scope_id || '''')::tsvector;
end;
grant execute on function search_words(text), entity_words(int, text, text) to sextant_app;

-- Of what readers see; it follows every change of name and description in the same statement. The
-- index's list of what waits to be sorted in is short, because every search reads through it.
alter table entities add column fts tsvector generated always as (
  case when asserted_count > 0 or mention_count >= 2
    then entity_words(scope_id, name, description) end) stored;
create index entities_fts on entities using gin (fts)
  with (gin_pending_list_limit = 256) where shown;

-- Entities by full text: those with all words of the question, or, where none has, those with any.
-- Ranked by cover density (Clarke, Cormack and Tudhope 2000). As the owner, because a policy keeps the
-- planner from the index (see search_grams); so the tenant is checked here, first. The question is
-- never parsed as a query: plainto_tsquery takes words, and its own text is what `any` is made of.
create policy owner_searches on entities for select to current_user using (true);
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
revoke execute on function
  rank_entities(int[], text, int, text[], timestamptz, timestamptz, timestamptz) from public;
grant execute on function
  rank_entities(int[], text, int, text[], timestamptz, timestamptz, timestamptz) to sextant_app;

-- Vectors do not change the graph's version, so they count for themselves; for caches.
create table entity_vector_versions (
  scope_id int primary key references graphs on delete cascade,
  user_id text not null,
  version bigint not null
);
select tenant_table('entity_vector_versions'::regclass);
grant select, insert, update, delete on entity_vector_versions to sextant_app;

-- The seed's names. All show what the session's sextant.user_id may see, whoever asks:
-- `set sextant.user_id = 'me'`. graph_id is ours: a user may have several knowledge bases.
-- A function, because the view must make way when the length of the vectors changes.
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

-- The structure trees of the documents' live versions.
create view document_sections with (security_invoker) as
select s.id as section_id, s.parent_id as parent_section_id, s.document_id, s.user_id, g.graph_id,
  s.title, s.level, s.ordinal, s.path, s.summary, s.tags, s.keywords, s.start_offset, s.end_offset,
  s.page
from sections s
join documents d on d.id = s.document_id and d.live_version = s.version
join graphs g on g.scope_id = s.scope_id;
grant select on document_sections to sextant_app;

-- Seed 001's functions: its names, parameters in its order, its defaults and its columns. Ours is
-- text where the seed's user_id is a uuid, and the vectors are as long as the embedding model's. One
-- parameter more, at the end: which knowledge base; all of the user's without it.
-- Exact: HNSW indexes are per knowledge base, and this may search many.
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

create function fulltext_search_entities(
  search_query text, user_id text, match_count int default 20, graph_id text default null)
returns table (id uuid, name text, description text, entity_type text, rank float)
language sql stable
begin atomic
  select e.id, e.name, e.description, e.entity_type, r.rank
  from rank_entities(
    array(select g.scope_id from graphs g where g.user_id = fulltext_search_entities.user_id
      and (fulltext_search_entities.graph_id is null
        or g.graph_id = fulltext_search_entities.graph_id)),
    fulltext_search_entities.search_query, fulltext_search_entities.match_count) as r
  join entities e on e.scope_id = r.scope_id and e.id = r.entity_id
  order by r.rank desc, e.id;
end;
grant execute on function vector_search_entities(vector, text, int, float, text),
  fulltext_search_entities(text, text, int, text) to sextant_app;

-- The view makes way while the vectors get another length.
alter function reset_vectors(text, int) rename to reset_projected_vectors;
create function reset_vectors(new_name text, new_dimension int) returns void
language plpgsql
set search_path from current
as $$
begin
  drop view knowledge_entity;
  perform reset_projected_vectors(new_name, new_dimension);
  perform show_knowledge_entity();
end $$;
revoke execute on function reset_vectors(text, int) from public;

-- A graph database learns when each entity came.
insert into graph_outbox (scope_id, user_id, kind, ids)
select scope_id, user_id, 'everything', '{}' from graph_versions where projected;
