-- name: same_bytes
-- The document in this scope that has these bytes, live or being ingested, and whether it says of itself
-- all that this metadata says; of two versions the one that does, of two documents the one of that name.
select d.id, d.source, v.filename, v.version = d.live_version as live, not exists (
  select from jsonb_each(%(metadata)s) as given
  where v.metadata -> given.key is distinct from given.value) as described
from document_versions v
join documents d on d.id = v.document_id and v.version in (d.live_version, d.pending_version)
where v.scope_id = %(scope_id)s and v.sha256 = %(sha256)s
order by d.source = %(source)s desc, described desc, v.version = d.live_version desc nulls last limit 1;

-- name: same_source
-- The document of that name, or the one that it names a copy of.
select id, false as is_copy from documents where scope_id = %(scope_id)s and source = %(source)s
union all
select document_id, true from document_copies where scope_id = %(scope_id)s and source = %(source)s;

-- name: add_copy
-- Another name of a document.
insert into document_copies (scope_id, source, user_id, document_id, filename, external_id, parent_id)
values (%(scope_id)s, %(source)s, %(user_id)s, %(document_id)s, %(filename)s, %(external_id)s, %(parent_id)s)
on conflict (scope_id, source) do update
set document_id = excluded.document_id, filename = excluded.filename, external_id = excluded.external_id,
  parent_id = excluded.parent_id;

-- name: drop_copy
-- The name is another document's from now on.
delete from document_copies where scope_id = %(scope_id)s and source = %(source)s;

-- name: take_oldest_copy
-- Removes the name that a document has had longest beside its own, and returns it.
delete from document_copies where scope_id = %(scope_id)s and source = (
  select source from document_copies
  where scope_id = %(scope_id)s and document_id = %(document_id)s order by created_at, source limit 1)
returning source, filename, external_id, parent_id;

-- name: attachments
-- The documents attached to another one, and the names that others have for being attached to it.
select id as document_id, source from documents where scope_id = %(scope_id)s and parent_id = %(document_id)s
union all
select document_id, source from document_copies
where scope_id = %(scope_id)s and parent_id = %(document_id)s
order by source;

-- name: attachment_depth
-- In how many e-mails, one inside the other, a document lies.
with recursive above as (
  select parent_id, 1 as depth from documents
  where scope_id = %(scope_id)s and id = %(document_id)s and parent_id is not null
  union all
  select d.parent_id, above.depth + 1 from documents d join above on d.id = above.parent_id
  where d.parent_id is not null and above.depth < 100
)
select coalesce(max(depth), 0) as depth from above;

-- name: name_of
-- The name by which a document is known.
select source from documents where scope_id = %(scope_id)s and id = %(document_id)s;

-- name: drop_copy_of
-- One of the names that a document has beside its own.
delete from document_copies
where scope_id = %(scope_id)s and source = %(source)s and document_id = %(document_id)s returning source;

-- name: promote_namesake
-- A file name that has become free goes to the oldest file that was kept beside the one that had it: those have
-- the name with a part of their digest in it, and their file name says the one they were given under.
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
-- The file name and the user's own id that a document is shown with.
update document_versions set filename = %(filename)s, external_id = %(external_id)s
where scope_id = %(scope_id)s and document_id = %(document_id)s;

-- name: rename
-- The name by which a changed file replaces a document, and the e-mail that it is attached to.
update documents set source = %(source)s, parent_id = %(parent_id)s, updated_at = now()
where scope_id = %(scope_id)s and id = %(document_id)s;

-- name: create_document
-- A new name, with its first version open. Lists are in the order of creation, also within a transaction.
insert into documents (user_id, scope_id, source, parent_id, last_version, pending_version, created_at)
values (%(user_id)s, %(scope_id)s, %(source)s, %(parent_id)s, 1, 1, clock_timestamp())
returning id;

-- name: next_version
-- Opens a new version; numbers are never used twice, so a late worker can be told apart.
update documents set last_version = last_version + 1, pending_version = last_version + 1,
  status = 'pending', updated_at = now()
where scope_id = %(scope_id)s and id = %(document_id)s returning pending_version;

-- name: add_version
-- The bytes and what is known about them before parsing.
insert into document_versions (document_id, version, user_id, scope_id, filename, media_type,
  sha256, size_bytes, external_id, metadata, content)
values (%(document_id)s, %(version)s, %(user_id)s, %(scope_id)s, %(filename)s, %(media_type)s,
  %(sha256)s, %(size_bytes)s, %(external_id)s, %(metadata)s, %(content)s);

-- name: open_job
-- The job that is already under way for a document.
select id from ingestion_jobs
where scope_id = %(scope_id)s and document_id = %(document_id)s and stage not in ('done', 'failed');

-- name: create_job
-- Work for any worker.
insert into ingestion_jobs (user_id, scope_id, graph_id, document_id, version, filename, created_at)
select d.user_id, d.scope_id, %(graph_id)s, d.id, v.version, v.filename, clock_timestamp()
from documents d join document_versions v on v.document_id = d.id and v.version = d.pending_version
where d.scope_id = %(scope_id)s and d.id = %(document_id)s
returning id;

-- name: close_job
-- The version that a job worked on is gone or replaced.
update ingestion_jobs set stage = 'failed', error_code = 'superseded', updated_at = now(),
  error = 'A newer version of the file was added.'
where scope_id = %(scope_id)s and document_id = %(document_id)s and stage not in ('done', 'failed');

-- name: reopen_job
-- What follows publishing failed for the live version: the same job, which takes it up there, and counts no failure.
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
-- The version that a job worked on is published, or taken back.
update ingestion_jobs set stage = %(stage)s, worker = null, updated_at = now(),
  error_code = %(error_code)s, error = %(error)s
where scope_id = %(scope_id)s and document_id = %(document_id)s and stage not in ('done', 'failed');

-- name: lock_document
-- The state of a document, held for this transaction.
select live_version, pending_version from documents
where scope_id = %(scope_id)s and id = %(document_id)s for update;

-- name: share_document
-- The same, held together with others that add to it: whoever locks the document waits for all of them.
-- A key share, so that each may still count its chunks (PostgreSQL manual, 13.3.2).
select live_version, pending_version from documents
where scope_id = %(scope_id)s and id = %(document_id)s for key share;

-- name: set_pending
-- A failed document is tried again.
update documents set status = 'pending', updated_at = now()
where scope_id = %(scope_id)s and id = %(document_id)s;

-- name: drop_staged
-- The chunks of a replacement that will not come.
delete from staged_chunks where scope_id = %(scope_id)s and document_id = %(document_id)s;

-- name: drop_version
-- A version's bytes, text and sections.
delete from document_versions
where scope_id = %(scope_id)s and document_id = %(document_id)s and version = %(version)s;

-- name: drop_live_version
-- The predecessor of a version that is being published.
delete from document_versions
where scope_id = %(scope_id)s and document_id = %(document_id)s and version = %(live_version)s;

-- name: keep_live
-- Nothing is pending any more; the live version serves on.
update documents set pending_version = null, status = 'ready', updated_at = now()
where scope_id = %(scope_id)s and id = %(document_id)s;

-- name: mark_failed
-- A first version failed: the document stays listed, with its bytes, and shows no chunk.
update documents set status = 'failed', chunk_count = 0, updated_at = now()
where scope_id = %(scope_id)s and id = %(document_id)s;

-- name: given
-- What there is to ingest: the pending version, else the live one.
select v.content, v.metadata from documents d join document_versions v
  on v.document_id = d.id and v.version = coalesce(d.pending_version, d.live_version)
where d.scope_id = %(scope_id)s and d.id = %(document_id)s;

-- name: save_parsed
-- What the parser found out. What the user says stands, or the same file given again would seem changed.
update document_versions set title = %(title)s, language = %(language)s,
  page_count = %(page_count)s, text = %(text)s, boxes = %(boxes)s, metadata = %(metadata)s || metadata,
  coverage = %(coverage)s
where scope_id = %(scope_id)s and document_id = %(document_id)s and version = %(version)s;

-- name: clear_sections
-- Sections of an earlier try.
delete from sections
where scope_id = %(scope_id)s and document_id = %(document_id)s and version = %(version)s;

-- name: add_section
-- One node of the section tree.
insert into sections (document_id, version, id, user_id, scope_id, parent_id, title, level, ordinal,
  start_offset, end_offset, path, heading_source, page, summary, tags, keywords)
values (%(document_id)s, %(version)s, %(id)s, %(user_id)s, %(scope_id)s, %(parent_id)s, %(title)s,
  %(level)s, %(ordinal)s, %(start)s, %(end)s, %(path)s, %(heading_source)s, %(page)s, %(summary)s,
  %(tags)s, %(keywords)s);

-- name: mark_ingesting
-- A worker has begun to store.
update documents set status = 'ingesting', updated_at = now()
where scope_id = %(scope_id)s and id = %(document_id)s;

-- name: publish
-- The pending version of a document is the live one from here on.
update documents d set live_version = pending_version, pending_version = null, status = 'ready',
  updated_at = now(), chunk_count = (select count(*) from chunks c
    where c.scope_id = %(scope_id)s and c.document_id = d.id)
where d.scope_id = %(scope_id)s and d.id = %(document_id)s;

-- name: is_live
-- Whether a document's live version is this one.
select from documents d join graphs g on g.scope_id = d.scope_id
where g.user_id = %(user_id)s and g.graph_id = %(graph_id)s and d.id = %(document_id)s
  and d.live_version = %(version)s;

-- name: delete
-- The document, and by cascade its versions, sections, staged chunks and jobs.
delete from documents where scope_id = %(scope_id)s and id = %(document_id)s;

-- name: describe
-- Documents of a knowledge base as they are listed: one, or the next of all.
select id, source, filename, title, media_type, sha256, size_bytes, status, language, page_count,
  chunk_count, external_id, metadata, created_at, updated_at, error, copies, coverage,
  parent_id
from described_documents
where user_id = %(user_id)s and graph_id = %(graph_id)s
  and (%(document_id)s::uuid is null or id = %(document_id)s)
  and (%(after)s::timestamptz is null or (created_at, id) > (%(after)s, %(after_id)s))
order by created_at, id limit %(most)s;

-- name: structure
-- The section tree of the live version, else of the one that is coming.
select s.id, s.parent_id, s.title, s.level, s.ordinal, s.start_offset as start,
  s.end_offset as "end", s.path, s.heading_source, s.page, s.summary, s.tags, s.keywords
from sections s join documents d on d.id = s.document_id
  and s.version = coalesce(d.live_version, d.pending_version)
where d.scope_id = %(scope_id)s and d.id = %(document_id)s
order by s.start_offset, s.level, s.ordinal;

-- name: headings
-- Headings of the newest documents that serve, each with its document: those that ask something, and those that
-- share a keyword with what stands below them, so that it speaks of what they say; that of the whole document is
-- none. A document without any has one row without a heading; one of tables alone has none.
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
-- A slice of the document's text, by character offsets from 0.
select substr(v.text, %(start)s + 1, %(length)s) as text from documents d join document_versions v
  on v.document_id = d.id and v.version = coalesce(d.live_version, d.pending_version)
where d.scope_id = %(scope_id)s and d.id = %(document_id)s;

-- name: boxes
-- Where the words of the document's text stand on its pages.
select v.boxes from documents d join document_versions v
  on v.document_id = d.id and v.version = coalesce(d.live_version, d.pending_version)
where d.scope_id = %(scope_id)s and d.id = %(document_id)s;

-- name: original
-- The file that citations refer to, else the one being ingested, without its bytes.
select v.filename, v.version, v.sha256, v.size_bytes, substring(v.content from 1 for %(head)s) as head
from documents d join document_versions v
  on v.document_id = d.id and v.version = coalesce(d.live_version, d.pending_version)
where d.scope_id = %(scope_id)s and d.id = %(document_id)s;

-- name: original_part
-- Some of its bytes: they are stored as they are, so that only these are read.
select substring(content from %(start)s + 1 for %(length)s) as part from document_versions
where scope_id = %(scope_id)s and document_id = %(document_id)s and version = %(version)s;

-- name: graph_of
-- The knowledge base that a user's document is in.
select g.graph_id from documents d join graphs g using (scope_id)
where d.id = %(document_id)s and g.user_id = %(user_id)s;
