-- name: same_bytes
-- The document of this scope with these bytes, live or pending, and whether its metadata are these. Of two versions
-- the one with these metadata comes first, of two documents the one of that name.
select d.id, d.source, v.filename, v.version = d.live_version as live, not exists (
  select from jsonb_each(%(metadata)s) as given
  where v.metadata -> given.key is distinct from given.value) as described
from document_versions v
join documents d on d.id = v.document_id and v.version in (d.live_version, d.pending_version)
where v.scope_id = %(scope_id)s and v.sha256 = %(sha256)s
order by d.source = %(source)s desc, described desc, v.version = d.live_version desc nulls last limit 1;

-- name: same_source
-- The document of that name, or the one of which the name is a copy.
select id, false as is_copy from documents where scope_id = %(scope_id)s and source = %(source)s
union all
select document_id, true from document_copies where scope_id = %(scope_id)s and source = %(source)s;

-- name: add_copy
-- Add a name to a document.
insert into document_copies (scope_id, source, user_id, document_id, filename, external_id, parent_id)
values (%(scope_id)s, %(source)s, %(user_id)s, %(document_id)s, %(filename)s, %(external_id)s, %(parent_id)s)
on conflict (scope_id, source) do update
set document_id = excluded.document_id, filename = excluded.filename, external_id = excluded.external_id,
  parent_id = excluded.parent_id;

-- name: drop_copy
-- Remove a name that becomes another document's.
delete from document_copies where scope_id = %(scope_id)s and source = %(source)s;

-- name: take_oldest_copy
-- Remove and return the oldest further name of a document.
delete from document_copies where scope_id = %(scope_id)s and source = (
  select source from document_copies
  where scope_id = %(scope_id)s and document_id = %(document_id)s order by created_at, source limit 1)
returning source, filename, external_id, parent_id;

-- name: attachments
-- The documents attached to another one, by all names that they have for that.
select id as document_id, source from documents where scope_id = %(scope_id)s and parent_id = %(document_id)s
union all
select document_id, source from document_copies
where scope_id = %(scope_id)s and parent_id = %(document_id)s
order by source;

-- name: attachment_depth
-- The number of e-mails, one inside the other, that contain a document.
with recursive above as (
  select parent_id, 1 as depth from documents
  where scope_id = %(scope_id)s and id = %(document_id)s and parent_id is not null
  union all
  select d.parent_id, above.depth + 1 from documents d join above on d.id = above.parent_id
  where d.parent_id is not null and above.depth < 100
)
select coalesce(max(depth), 0) as depth from above;

-- name: name_of
-- The name of a document.
select source from documents where scope_id = %(scope_id)s and id = %(document_id)s;

-- name: drop_copy_of
-- Remove one of a document's further names.
delete from document_copies
where scope_id = %(scope_id)s and source = %(source)s and document_id = %(document_id)s returning source;

-- name: promote_namesake
-- Give a free file name to the oldest file that was stored under an alternative name because another file had it.
-- An alternative name contains a part of the digest; the file name is the original one.
with namesakes as (
  select d.source, d.created_at from documents d join document_versions v on v.document_id = d.id
    and v.version = coalesce(d.pending_version, d.live_version)
  where d.scope_id = %(scope_id)s and v.filename = %(filename)s
  union all
  select source, created_at from document_copies
  where scope_id = %(scope_id)s and filename = %(filename)s
), oldest as (
  select source from namesakes
  where starts_with(source, %(head)s) and right(source, length(%(tail)s)) = %(tail)s
    and substr(source, length(%(head)s) + 1, length(source) - length(%(head)s) - length(%(tail)s))
      ~ '^[0-9a-f]{8}( [0-9]+)?$'
    and not exists (select from documents where scope_id = %(scope_id)s and source = %(source)s)
    and not exists (select from document_copies where scope_id = %(scope_id)s and source = %(source)s)
  order by created_at, source limit 1
), promoted as (
  update documents d set source = %(source)s, updated_at = now() from oldest
  where d.scope_id = %(scope_id)s and d.source = oldest.source
)
update document_copies c set source = %(source)s from oldest
where c.scope_id = %(scope_id)s and c.source = oldest.source;

-- name: rename_versions
-- Set the file name and external id of a document's versions.
update document_versions set filename = %(filename)s, external_id = %(external_id)s
where scope_id = %(scope_id)s and document_id = %(document_id)s;

-- name: rename
-- Set the name of a document, and the e-mail that it is attached to.
update documents set source = %(source)s, parent_id = %(parent_id)s, updated_at = now()
where scope_id = %(scope_id)s and id = %(document_id)s;

-- name: create_document
-- Create a document with its first version pending. Lists are in the order of creation, also within a transaction.
insert into documents (user_id, scope_id, source, parent_id, last_version, pending_version, created_at)
values (%(user_id)s, %(scope_id)s, %(source)s, %(parent_id)s, 1, 1, clock_timestamp())
returning id;

-- name: next_version
-- Open a new version; numbers are never used twice, so that a late worker is recognised.
update documents set last_version = last_version + 1, pending_version = last_version + 1,
  status = 'pending', updated_at = now()
where scope_id = %(scope_id)s and id = %(document_id)s returning pending_version;

-- name: add_version
-- Store the bytes of a version and what is known before parsing.
insert into document_versions (document_id, version, user_id, scope_id, filename, media_type,
  sha256, size_bytes, external_id, metadata, content)
values (%(document_id)s, %(version)s, %(user_id)s, %(scope_id)s, %(filename)s, %(media_type)s,
  %(sha256)s, %(size_bytes)s, %(external_id)s, %(metadata)s, %(content)s);

-- name: open_job
-- The open job of a document.
select id from ingestion_jobs
where scope_id = %(scope_id)s and document_id = %(document_id)s and stage not in ('done', 'failed');

-- name: create_job
-- Queue a document for any worker.
insert into ingestion_jobs (user_id, scope_id, graph_id, document_id, version, filename, created_at)
select d.user_id, d.scope_id, %(graph_id)s, d.id, v.version, v.filename, clock_timestamp()
from documents d join document_versions v on v.document_id = d.id and v.version = d.pending_version
where d.scope_id = %(scope_id)s and d.id = %(document_id)s
returning id;

-- name: close_job
-- Close the job of a version that was deleted or replaced.
update ingestion_jobs set stage = 'failed', error_code = 'superseded', updated_at = now(),
  error = 'A newer version of the file was added.'
where scope_id = %(scope_id)s and document_id = %(document_id)s and stage not in ('done', 'failed');

-- name: reopen_job
-- Reopen the job of a live version whose stages after publishing failed, without counting a failure.
update ingestion_jobs set stage = 'queued', worker = null, released = attempts, not_before = null,
  error_code = null, error = null, updated_at = now()
where id = (select j.id from ingestion_jobs j
    where j.scope_id = %(scope_id)s and j.document_id = %(document_id)s
    order by j.created_at desc, j.id limit 1)
  and stage = 'failed'
  and version = (select live_version from documents
    where scope_id = %(scope_id)s and id = %(document_id)s)
returning id;

-- name: end_job
-- Close the job of a version that was published or withdrawn.
update ingestion_jobs set stage = %(stage)s, worker = null, updated_at = now(),
  error_code = %(error_code)s, error = %(error)s
where scope_id = %(scope_id)s and document_id = %(document_id)s and stage not in ('done', 'failed');

-- name: lock_document
-- The state of a document, locked until the transaction ends.
select live_version, pending_version from documents
where scope_id = %(scope_id)s and id = %(document_id)s for update;

-- name: share_document
-- The state of a document, locked together with others that add chunks to it; `lock_document` waits for all of
-- them. A key-share lock lets each of them count its chunks (PostgreSQL manual, 13.3.2).
select live_version, pending_version from documents
where scope_id = %(scope_id)s and id = %(document_id)s for key share;

-- name: set_pending
-- Queue a failed document again.
update documents set status = 'pending', updated_at = now()
where scope_id = %(scope_id)s and id = %(document_id)s;

-- name: drop_staged
-- Delete the staged chunks of a replacement.
delete from staged_chunks where scope_id = %(scope_id)s and document_id = %(document_id)s;

-- name: drop_version
-- Delete a version with its bytes, text and sections.
delete from document_versions
where scope_id = %(scope_id)s and document_id = %(document_id)s and version = %(version)s;

-- name: drop_live_version
-- Delete the live version before another one is published.
delete from document_versions
where scope_id = %(scope_id)s and document_id = %(document_id)s and version = %(live_version)s;

-- name: keep_live
-- Close the pending version; the live one stays.
update documents set pending_version = null, status = 'ready', updated_at = now()
where scope_id = %(scope_id)s and id = %(document_id)s;

-- name: mark_failed
-- Mark a failed first version: the document stays listed, with its bytes and without chunks.
update documents set status = 'failed', chunk_count = 0, updated_at = now()
where scope_id = %(scope_id)s and id = %(document_id)s;

-- name: given
-- The bytes to ingest: of the pending version, else of the live one.
select v.content, v.metadata from documents d join document_versions v
  on v.document_id = d.id and v.version = coalesce(d.pending_version, d.live_version)
where d.scope_id = %(scope_id)s and d.id = %(document_id)s;

-- name: save_parsed
-- Store the parsed text and metadata. The user's metadata stay, or the same file would seem changed next time.
update document_versions set title = %(title)s, language = %(language)s,
  page_count = %(page_count)s, text = %(text)s, boxes = %(boxes)s, metadata = %(metadata)s || metadata,
  coverage = %(coverage)s
where scope_id = %(scope_id)s and document_id = %(document_id)s and version = %(version)s;

-- name: clear_sections
-- Delete the sections of an earlier attempt.
delete from sections
where scope_id = %(scope_id)s and document_id = %(document_id)s and version = %(version)s;

-- name: add_section
-- Add a section to the tree.
insert into sections (document_id, version, id, user_id, scope_id, parent_id, title, level, ordinal,
  start_offset, end_offset, path, heading_source, page, summary, tags, keywords)
values (%(document_id)s, %(version)s, %(id)s, %(user_id)s, %(scope_id)s, %(parent_id)s, %(title)s,
  %(level)s, %(ordinal)s, %(start)s, %(end)s, %(path)s, %(heading_source)s, %(page)s, %(summary)s,
  %(tags)s, %(keywords)s);

-- name: mark_ingesting
-- Mark a document whose chunks are being stored.
update documents set status = 'ingesting', updated_at = now()
where scope_id = %(scope_id)s and id = %(document_id)s;

-- name: publish
-- Make the pending version the live one.
update documents d set live_version = pending_version, pending_version = null, status = 'ready',
  updated_at = now(), chunk_count = (select count(*) from chunks c
    where c.scope_id = %(scope_id)s and c.document_id = d.id)
where d.scope_id = %(scope_id)s and d.id = %(document_id)s;

-- name: is_live
-- Whether this version is the live one.
select from documents d join graphs g on g.scope_id = d.scope_id
where g.user_id = %(user_id)s and g.graph_id = %(graph_id)s and d.id = %(document_id)s
  and d.live_version = %(version)s;

-- name: delete
-- Delete a document, and by cascade its versions, sections, staged chunks and jobs.
delete from documents where scope_id = %(scope_id)s and id = %(document_id)s;

-- name: describe
-- The documents of a knowledge base as lists show them: one, or the next page of those whose name has a text, in
-- any case; macOS writes a letter and its accent apart.
select id, source, filename, title, media_type, sha256, size_bytes, status, language, page_count,
  chunk_count, external_id, metadata, created_at, updated_at, error, copies, coverage,
  parent_id
from described_documents
where user_id = %(user_id)s and graph_id = %(graph_id)s
  and (%(document_id)s::uuid is null or id = %(document_id)s)
  and (%(after)s::timestamptz is null or (created_at, id) > (%(after)s, %(after_id)s))
  and strpos(lower(normalize(filename, NFKC)), lower(normalize(%(name)s, NFKC))) > 0
order by created_at, id limit %(most)s;

-- name: structure
-- The section tree of the live version, else of the pending one.
select s.id, s.parent_id, s.title, s.level, s.ordinal, s.start_offset as start,
  s.end_offset as "end", s.path, s.heading_source, s.page, s.summary, s.tags, s.keywords
from sections s join documents d on d.id = s.document_id
  and s.version = coalesce(d.live_version, d.pending_version)
where d.scope_id = %(scope_id)s and d.id = %(document_id)s
order by s.start_offset, s.level, s.ordinal;

-- name: headings
-- Headings of the newest documents: questions, and headings that share a keyword with the text below them. The
-- document's own title is left out. A document without such a heading has one row without a heading; one of tables
-- alone has none.
select d.id as document_id, v.filename, v.title as document_title, v.language, s.title as heading
from (
  select id, live_version, created_at from documents
  where scope_id = %(scope_id)s and live_version is not null
  order by created_at desc limit %(documents)s
) d join document_versions v on v.document_id = d.id and v.version = d.live_version
left join lateral (
  select title, start_offset from (
    select * from sections where document_id = d.id and version = d.live_version and level > 0
    order by start_offset limit 200
  ) first_sections
  where length(title) between 2 and %(longest)s and end_offset - start_offset >= %(least)s
    and strpos(lower(v.title), lower(title)) = 0
    and (title ~ '[?？]\s*$' or exists (select from unnest(keywords) keyword
      where length(keyword) > 1 and strpos(lower(title), lower(keyword)) > 0))
  order by start_offset limit %(each)s
) s on true
where exists (select from chunks where document_id = d.id and modality = 'text')
order by d.created_at desc, d.id, s.start_offset;

-- name: text
-- A part of the document's text by character offsets from 0.
select substr(v.text, %(start)s + 1, %(length)s) as text from documents d join document_versions v
  on v.document_id = d.id and v.version = coalesce(d.live_version, d.pending_version)
where d.scope_id = %(scope_id)s and d.id = %(document_id)s;

-- name: boxes
-- The positions of the document's words on its pages.
select v.boxes from documents d join document_versions v
  on v.document_id = d.id and v.version = coalesce(d.live_version, d.pending_version)
where d.scope_id = %(scope_id)s and d.id = %(document_id)s;

-- name: original
-- The file that citations refer to, else the pending one, without its bytes.
select v.filename, v.version, v.sha256, v.size_bytes, substring(v.content from 1 for %(head)s) as head
from documents d join document_versions v
  on v.document_id = d.id and v.version = coalesce(d.live_version, d.pending_version)
where d.scope_id = %(scope_id)s and d.id = %(document_id)s;

-- name: original_part
-- A part of a file's bytes; they are stored uncompressed, so that only this part is read.
select substring(content from %(start)s + 1 for %(length)s) as part from document_versions
where scope_id = %(scope_id)s and document_id = %(document_id)s and version = %(version)s;

-- name: graph_of
-- The knowledge base of a user's document.
select g.graph_id from documents d join graphs g using (scope_id)
where d.id = %(document_id)s and g.user_id = %(user_id)s;
