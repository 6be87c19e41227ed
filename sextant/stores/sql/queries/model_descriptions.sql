-- name: chunks_to_ask
-- The next chunks of live documents that no chat model has described and that failed less than `tries` times.
-- Passages of generated facts are left out, here and below.
select 0 as rank, c.document_id, c.ordinal, c.id, v.version,
  coalesce(nullif(v.title, ''), v.filename) as document_title,
  c.describe_tries as tries, left(c.text, %(chars)s) as text, '[]'::json as parts
from chunks c join documents d on d.id = c.document_id
join document_versions v on v.document_id = d.id and v.version = d.live_version
where c.scope_id = %(scope_id)s and c.described_by = 'extract' and c.describe_tries < %(tries)s
  and (0, c.document_id, c.ordinal) > (%(rank)s, %(document_id)s, %(ordinal)s)
  and not v.metadata ? 'factsOf'
order by c.document_id, c.ordinal limit %(limit)s;

-- name: sections_to_ask
-- The next such sections, deepest first, each with the descriptions of its own chunks and of its subsections. Of
-- many parts every second, third, … is taken, from the first on.
with due as (
  select s.scope_id, s.document_id, s.version, s.id, s.level, s.ordinal, s.path, s.describe_tries, v.title, v.filename
  from sections s join documents d on d.id = s.document_id and d.live_version = s.version
  join document_versions v on v.document_id = d.id and v.version = s.version
  where s.scope_id = %(scope_id)s and s.described_by <> 'llm' and s.describe_tries < %(tries)s
    and (-s.level, s.document_id, s.ordinal) > (%(rank)s, %(document_id)s, %(ordinal)s)
    and not v.metadata ? 'factsOf'
  order by -s.level, s.document_id, s.ordinal limit %(limit)s
)
select -due.level as rank, due.document_id, due.ordinal, due.id, due.version,
  coalesce(nullif(due.title, ''), due.filename) as document_title, due.describe_tries as tries,
  left(coalesce(nullif(array_to_string(due.path, ' > '), ''), due.title), %(chars)s) as text, told.parts
from due cross join lateral (
  select coalesce(json_agg(json_build_object('title', title, 'summary', summary, 'keywords', keywords, 'tags', tags,
    'by_model', by_model) order by place), '[]') as parts
  from (
    select *, row_number() over (order by start_offset, ordinal) as place, count(*) over () as number
    from (
      select '' as title, c.summary, c.keywords, c.tags, c.described_by = 'llm' as by_model, c.start_offset, c.ordinal
      from chunks c
      where c.scope_id = due.scope_id and c.document_id = due.document_id and c.section_id = due.id
        and c.summary <> ''
      union all
      select t.title, t.summary, t.keywords, t.tags, t.described_by <> 'extract', t.start_offset, t.ordinal
      from sections t
      where t.document_id = due.document_id and t.version = due.version and t.parent_id = due.id
        and t.summary <> ''
    ) as said
  ) as placed
  where mod(place - 1, 1 + (number - 1) / %(most)s) = 0
) as told
order by rank, due.document_id, due.ordinal;

-- name: chunks_waiting
-- The number of chunks to describe.
select count(*) from chunks c join documents d on d.id = c.document_id
join document_versions v on v.document_id = d.id and v.version = d.live_version
where c.scope_id = %(scope_id)s and c.described_by = 'extract' and c.describe_tries < %(tries)s
  and not v.metadata ? 'factsOf';

-- name: sections_waiting
-- The number of sections to describe.
select count(*) from sections s join documents d on d.id = s.document_id and d.live_version = s.version
join document_versions v on v.document_id = d.id and v.version = s.version
where s.scope_id = %(scope_id)s and s.described_by <> 'llm' and s.describe_tries < %(tries)s
  and not v.metadata ? 'factsOf';

-- name: chunks_lock
-- Lock the documents of chunks in one order before anything is written, as deletions and replacements do; both
-- write chunks and sections in different orders.
select from documents d
where d.scope_id = %(scope_id)s
  and d.id in (select document_id from chunks where scope_id = %(scope_id)s and id = any(%(ids)s::uuid[]))
order by d.id for no key update;

-- name: sections_lock
-- Lock the documents of sections.
select from documents d
where d.scope_id = %(scope_id)s
  and d.id in (select document_id from sections where scope_id = %(scope_id)s and id = any(%(ids)s::uuid[]))
order by d.id for no key update;

-- name: chunks_said
-- Store the description of a chunk, if its document's version is still the same; empty fields keep the old value.
update chunks c set described_by = 'llm',
  summary = coalesce(nullif(%(summary)s, ''), summary),
  topics = case when cardinality(%(topics)s::text[]) > 0 then %(topics)s::text[] else topics end,
  keywords = case when cardinality(%(keywords)s::text[]) > 0 then %(keywords)s::text[] else keywords end,
  topic_labels = array(select distinct unnest(topic_labels || %(topics)s::text[]) order by 1),
  tags = array(select distinct unnest(tags || %(tags)s::text[]) order by 1)
from documents d
where c.scope_id = %(scope_id)s and c.id = %(id)s and d.id = c.document_id and d.live_version = %(version)s;

-- name: sections_said
-- Store the description of a section, which has no topics.
update sections s set described_by = 'llm',
  summary = coalesce(nullif(%(summary)s, ''), summary),
  keywords = case when cardinality(%(keywords)s::text[]) > 0 then %(keywords)s::text[] else keywords end,
  tags = array(select distinct unnest(tags || %(tags)s::text[]) order by 1)
from documents d
where s.scope_id = %(scope_id)s and s.id = %(id)s and s.version = %(version)s
  and d.id = s.document_id and d.live_version = s.version;

-- name: chunks_around
-- The sections of chunks that were described now; their descriptions, and failures, lack these chunks.
update sections s set describe_tries = 0,
  described_by = case s.described_by when 'llm' then 'outdated' else s.described_by end
from chunks c join documents d on d.id = c.document_id
where c.scope_id = %(scope_id)s and c.id = any(%(ids)s::uuid[])
  and s.document_id = d.id and s.version = d.live_version and s.id = c.section_id
  and (s.described_by = 'llm' or s.describe_tries > 0);

-- name: sections_around
-- The sections above these sections.
update sections s set describe_tries = 0,
  described_by = case s.described_by when 'llm' then 'outdated' else s.described_by end
from sections t join documents d on d.id = t.document_id and d.live_version = t.version
where t.scope_id = %(scope_id)s and t.id = any(%(ids)s::uuid[])
  and s.document_id = t.document_id and s.version = t.version and s.id = t.parent_id
  and (s.described_by = 'llm' or s.describe_tries > 0);

-- name: chunks_failed
-- Count a failure; the extracted descriptions stay.
update chunks set describe_tries = describe_tries + 1
where scope_id = %(scope_id)s and id = any(%(ids)s::uuid[]);

-- name: sections_failed
-- Count a failure of sections.
update sections set describe_tries = describe_tries + 1
where scope_id = %(scope_id)s and id = any(%(ids)s::uuid[]);

-- name: chunks_retry
-- Let failed chunks wait again, but remember that they failed.
update chunks set describe_tries = 1
where scope_id = %(scope_id)s and described_by = 'extract' and describe_tries > 1;

-- name: sections_retry
-- Let failed sections wait again.
update sections set describe_tries = 1
where scope_id = %(scope_id)s and described_by <> 'llm' and describe_tries > 1;

-- name: sections_coming
-- The sections that a run would describe or copy from their only part, with their numbers of parts: sections
-- without a description by a model, sections with such chunks, and all sections above them.
with recursive live as materialized (
  select s.document_id, s.id, s.parent_id, s.level, s.described_by
  from sections s join documents d on d.id = s.document_id and d.live_version = s.version
  join document_versions v on v.document_id = d.id and v.version = s.version
  where s.scope_id = %(scope_id)s and not v.metadata ? 'factsOf'
), said as materialized (
  select document_id, section_id, count(*) filter (where summary <> '') as parts,
    bool_or(described_by = 'extract') as waiting
  from chunks where scope_id = %(scope_id)s group by document_id, section_id
), inside as materialized (
  select document_id, parent_id, count(*) as parts from live group by document_id, parent_id
), coming as (
  select live.document_id, live.id, live.parent_id, live.level from live left join said
    on said.document_id = live.document_id and said.section_id = live.id
  where described_by <> 'llm' or said.waiting
  union
  select p.document_id, p.id, p.parent_id, p.level
  from coming join live p on p.document_id = coming.document_id and p.id = coming.parent_id
)
select one.level, coalesce(said.parts, 0) + coalesce(inside.parts, 0) as parts
from coming as one
left join said on said.document_id = one.document_id and said.section_id = one.id
left join inside on inside.document_id = one.document_id and inside.parent_id = one.id;

-- name: by_digest
-- Join staged rows by digest; the planner expects only a row or two and would compare all with all, for hours in a
-- long document.
set local enable_nestloop = off;

-- name: as_usual
-- Plan the statements afterwards as usual.
set local enable_nestloop = on;

-- name: keep_chunks_said
-- Before a version is replaced: copy the descriptions of its chunks to chunks of the new version with the same text
-- and document title, which is all that the model saw. The user's tags of the old version are left out.
with olds as materialized (
  select md5(o.text) as content, o.summary, o.keywords, o.topics, o.tags, ov.metadata -> 'tags' as given
  from chunks o join document_versions ov on ov.document_id = o.document_id and ov.version = %(live_version)s
  join document_versions nv on nv.document_id = o.document_id and nv.version = %(version)s
  where o.scope_id = %(scope_id)s and o.document_id = %(document_id)s and o.described_by = 'llm'
    and coalesce(nullif(nv.title, ''), nv.filename) = coalesce(nullif(ov.title, ''), ov.filename)
), news as materialized (
  select id, md5(text) as content from staged_chunks
  where scope_id = %(scope_id)s and document_id = %(document_id)s
)
update staged_chunks n set summary = o.summary, keywords = o.keywords, topics = o.topics,
  topic_labels = array(select distinct unnest(n.topic_labels || o.topics) order by 1),
  tags = array(select distinct tag from unnest(n.tags || o.tags) as tag
    where tag = any(n.tags) or not o.given @> to_jsonb(tag) is true order by 1)
from news join olds o using (content)
where n.scope_id = %(scope_id)s and n.document_id = %(document_id)s and n.id = news.id
returning n.id;

-- name: keep_sections_said
-- Copy the descriptions of sections whose chunks and subsections are the same and kept theirs.
with recursive own as materialized (
  select version, id, parent_id, path, ordinal from sections
  where scope_id = %(scope_id)s and document_id = %(document_id)s and version in (%(live_version)s, %(version)s)
), directly as materialized (
  select %(live_version)s::int as version, section_id, md5(string_agg(text, E'\n' order by ordinal)) as content,
    true as kept
  from chunks where scope_id = %(scope_id)s and document_id = %(document_id)s group by section_id
  union all
  select %(version)s::int, section_id, md5(string_agg(text, E'\n' order by ordinal)),
    bool_and(id = any(%(ids)s::uuid[]))
  from staged_chunks where scope_id = %(scope_id)s and document_id = %(document_id)s group by section_id
), below as (
  select version, id as top, id, parent_id from own
  union all
  select b.version, o.id, b.id, o.parent_id from below b join own o on o.version = b.version and o.id = b.parent_id
), whole as materialized (
  select b.version, b.top as id,
    md5(string_agg(concat_ws(E'\n', o.path, d.content), E'\n' order by o.ordinal)) as content
  from below b join own o on o.version = b.version and o.id = b.id
  left join directly d on d.version = b.version and d.section_id = b.id
  group by b.version, b.top
  having count(d.content) > 0 and bool_and(coalesce(d.kept, true))
)
update sections s set described_by = 'llm', summary = o.summary, keywords = o.keywords,
  tags = array(select distinct tag from unnest(s.tags || o.tags) as tag
    where tag = any(s.tags) or not v.metadata -> 'tags' @> to_jsonb(tag) is true order by 1)
from whole n join whole w on w.version = %(live_version)s and w.content = n.content
join sections o on o.scope_id = %(scope_id)s and o.document_id = %(document_id)s
  and o.version = w.version and o.id = w.id and o.described_by = 'llm'
join document_versions v on v.document_id = o.document_id and v.version = o.version
where n.version = %(version)s and s.scope_id = %(scope_id)s and s.document_id = %(document_id)s
  and s.version = n.version and s.id = n.id;

-- name: note_chunks_kept
-- Record, once they are live, that a chat model has described these chunks.
update chunks set described_by = 'llm' where scope_id = %(scope_id)s and id = any(%(ids)s::uuid[]);
