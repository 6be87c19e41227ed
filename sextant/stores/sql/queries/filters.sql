-- name: matching
-- The chunks that match the filters, as a part of the queries below; null means no filter. A path of titles may
-- begin with the document's title or with that of its first section.
select c.id from chunks c
where c.scope_id = %(scope_id)s
  and (%(sources)s::text[] is null or c.document_id = any(array(
    select d.id from documents d where d.scope_id = %(scope_id)s
      and (d.id = any(%(document_ids)s::uuid[]) or d.source = any(%(sources)s::text[])))))
  and (%(created_after)s::timestamptz is null or c.created_at >= %(created_after)s::timestamptz)
  and (%(created_before)s::timestamptz is null or c.created_at < %(created_before)s::timestamptz)
  and (%(section_id)s::uuid[] is null or c.section_id in (
    with recursive below as (
      select s.id, s.document_id, s.version from sections s
      where s.scope_id = %(scope_id)s and s.id = any(%(section_id)s::uuid[])
      union
      select s.id, s.document_id, s.version from sections s
      join below b on s.document_id = b.document_id and s.version = b.version and s.parent_id = b.id
      where s.scope_id = %(scope_id)s
    )
    select id from below))
  and (%(topic_labels)s::text[] is null or exists (
    select from unnest(%(topic_labels)s::text[]) as wanted(label)
    where strpos(lower(array_to_string(c.topic_labels, E'\n')), label) > 0))
  and (%(tags)s::text[] is null
    or lower(c.tags::text)::text[] && %(tags)s::text[]
    or c.document_id in (
      select d.id from documents d join document_versions v on v.document_id = d.id
        and v.version = coalesce(d.live_version, d.pending_version)
      where d.scope_id = %(scope_id)s and jsonb_typeof(v.metadata -> 'tags') in ('array', 'string')
        and lower((v.metadata -> 'tags')::text)::jsonb ?| %(tags)s::text[]))
  and (%(entity_types)s::text[] is null or c.id in (
    select m.chunk_id from mentions m
    where m.scope_id = %(scope_id)s and lower(m.entity_type) = any(%(entity_types)s::text[])
    union
    select m.chunk_id from entities e
    join mentions m on m.scope_id = e.scope_id and m.entity_id = e.id
    where e.scope_id = %(scope_id)s and lower(e.entity_type) = any(%(entity_types)s::text[])
    union
    select m.chunk_id from entities e
    join entity_merges g on g.scope_id = e.scope_id and g.root_id = e.id
    join mentions m on m.scope_id = g.scope_id and m.entity_id = g.from_id
    where e.scope_id = %(scope_id)s and lower(e.entity_type) = any(%(entity_types)s::text[])))
  and (%(section_patterns)s::text[] is null
    or path_begins(c.section_path, %(section_patterns)s::text[])
    or exists (
      select from documents d join document_versions v on v.document_id = d.id
        and v.version = coalesce(d.live_version, d.pending_version)
      where d.id = c.document_id
        and path_begins(
          case when c.section_path[1] = v.title then c.section_path
            else array_prepend(v.title, c.section_path) end,
          %(document_patterns)s::text[])))

-- name: unknown
-- The documents and sections of the filters that the scope does not have.
select n.name from unnest(%(names)s::text[], %(ids)s::uuid[]) with ordinality as n (name, id, place)
where not exists (
  select from documents d where d.scope_id = %(scope_id)s and (d.source = n.name or d.id = n.id))
union all
select n.id::text from unnest(%(sections)s::uuid[]) as n (id)
where not exists (select from sections s where s.scope_id = %(scope_id)s and s.id = n.id);

-- name: unknown_types
-- The types, in lower case, that no entity or mention of the scope has.
select n.type from unnest(%(types)s::text[]) with ordinality as n (type, place)
where not exists (select from entities e where e.scope_id = %(scope_id)s and lower(e.entity_type) = n.type)
  and not exists (select from mentions m where m.scope_id = %(scope_id)s and lower(m.entity_type) = n.type)
order by n.place;

-- name: types
-- The types of the scope's entities, most frequent first.
select entity_type from entities where scope_id = %(scope_id)s and shown
group by entity_type order by count(*) desc, entity_type;

-- name: options
-- Plan for the values at hand, since a general plan would consider every filter; set the timeout.
select set_config('plan_cache_mode', 'force_custom_plan', true),
  set_config('statement_timeout', %(timeout)s, true);

-- name: ids
-- The ids of the matching chunks as one value, in order.
select string_agg(uuid_send(id), '' order by id) as ids from (%(matching)s) as matching;

-- name: vector_search
-- The nearest matching chunks by cosine, always exact: an approximate index with a filter returns too few.
with matching as materialized (%(matching)s)
select v.chunk_id, 1 - (v.embedding <=> %(vector)s) as score
from matching join chunk_vectors v on v.partition_key = %(partition_key)s
  and v.scope_id = %(scope_id)s and v.chunk_id = matching.id
order by v.embedding <=> %(vector)s, v.chunk_id limit %(k)s;

-- name: keyword_search
-- The keyword search among the matching chunks; see `keyword_matches`.
with matching as materialized (%(matching)s)
select found.chunk_id, found.matched + found.density / (1 + found.density) as score
from search_grams(%(scope_id)s, %(words)s, %(gram_words)s, %(grams)s::int[]) as found
join matching on matching.id = found.chunk_id
order by found.matched desc, found.density desc, found.chunk_id limit %(k)s;
