-- Knowledge bases, documents with their versions, and sections.

-- A knowledge base. partition_key: 0 while its vectors are in the shared partition, else scope_id (promote_scope).
-- counted_chunks: how many chunks it had when its common grams were counted; 0: they were not (count_grams).
create table graphs (
  scope_id int generated always as identity primary key,
  user_id text not null,
  graph_id text not null,
  partition_key int not null default 0,
  created_at timestamptz not null default now(),
  counted_chunks int not null default 0,
  unique (user_id, graph_id)
);
select tenant_table('graphs');
grant select, insert, update, delete on graphs to sextant_app;
-- Functions of the owner look up a knowledge base by its user, and move it to a partition of its own.
create policy owner_places on graphs to current_user using (true);

-- A document by its source. Searches see the live version; the pending one is being ingested. parent_id: the e-mail
-- that it is attached to, and is deleted with.
create table documents (
  id uuid primary key default gen_random_uuid(),
  user_id text not null,
  scope_id int not null references graphs on delete cascade,
  source text not null,
  status text not null default 'pending',
  live_version int,
  pending_version int,
  last_version int not null default 0,
  chunk_count int not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  parent_id uuid references documents on delete set null,
  unique (scope_id, source)
);
create index on documents (parent_id) where parent_id is not null;
select tenant_table('documents');
grant select, insert, update, delete on documents to sextant_app;

-- The bytes of one version, so that any worker can resume, and the text that offsets refer to. coverage: how much of
-- the file's text is stored, by kind, and what was left out; null: it was not measured.
create table document_versions (
  document_id uuid not null references documents on delete cascade,
  version int not null,
  user_id text not null,
  scope_id int not null,
  filename text not null,
  media_type text not null,
  sha256 text not null,
  size_bytes bigint not null,
  external_id text,
  metadata jsonb not null default '{}',
  content bytea not null,
  title text not null default '',
  language text not null default '',
  page_count int,
  text text not null default '',
  created_at timestamptz not null default now(),
  boxes bytea,
  coverage jsonb,
  primary key (document_id, version)
);
create index on document_versions (scope_id, sha256);
-- Most formats are compressed already, and so are the boxes: where the words of the text stand on the file's pages
-- (sextant/domain/page_boxes.py). Null: it has no pages, or it was read before boxes were stored.
alter table document_versions alter column content set storage external, alter column boxes set storage external;
select tenant_table('document_versions');
grant select, insert, update, delete on document_versions to sextant_app;

-- Further sources of a document: files of the same bytes. The oldest takes the document over when the file that
-- named it changes or is deleted. A source belongs to one document or one copy, never to both.
create table document_copies (
  scope_id int not null references graphs on delete cascade,
  source text not null,
  user_id text not null,
  document_id uuid not null references documents on delete cascade,
  filename text not null,
  external_id text,
  created_at timestamptz not null default clock_timestamp(),
  parent_id uuid references documents on delete cascade,
  primary key (scope_id, source)
);
create index on document_copies (document_id);
create index on document_copies (parent_id) where parent_id is not null;
select tenant_table('document_copies');
grant select, insert, update, delete on document_copies to sextant_app;

-- The tree of a version's headings. described_by: who wrote summary, tags and keywords ('extract': the offline
-- extraction, 'llm': a chat model, 'outdated': a chat model before more chunks of the section were described, so
-- it is asked again). describe_tries: how often a chat model failed to.
create table sections (
  document_id uuid not null,
  version int not null,
  id uuid not null,
  user_id text not null,
  scope_id int not null,
  parent_id uuid,
  title text not null,
  level int not null,
  ordinal int not null,
  start_offset int not null,
  end_offset int not null,
  path text[] not null,
  heading_source text not null,
  page int,
  summary text not null,
  tags text[] not null,
  keywords text[] not null,
  described_by text not null default 'extract',
  describe_tries int not null default 0,
  primary key (document_id, version, id),
  foreign key (document_id, version) references document_versions on delete cascade
);
-- A filter by section walks down the tree from it.
create index on sections (scope_id, id);
select tenant_table('sections');
grant select, insert, update, delete on sections to sextant_app;

-- The trees of the live versions, for users of psql, PostgREST or Supabase.
create view document_sections with (security_invoker) as
select s.id as section_id, s.parent_id as parent_section_id, s.document_id, s.user_id, g.graph_id,
  s.title, s.level, s.ordinal, s.path, s.summary, s.tags, s.keywords, s.start_offset, s.end_offset,
  s.page
from sections s
join documents d on d.id = s.document_id and d.live_version = s.version
join graphs g on g.scope_id = s.scope_id;
grant select on document_sections to sextant_app;

-- What the vision model answered about images in documents, by their content, so that no image is sent twice.
-- An empty caption: the model could not describe it, and a resumed job does not ask again.
create table image_captions (
  scope_id int not null references graphs on delete cascade,
  user_id text not null,
  sha256 text not null,
  model text not null,
  language text not null,
  caption text not null,
  created_at timestamptz not null default now(),
  primary key (scope_id, sha256, model, language)
);
select tenant_table('image_captions');
grant select, insert, update, delete on image_captions to sextant_app;

-- What OCR read on the pages of a document's file, and in the pictures inside of it (page 1), by the content's sha256:
-- a job that is resumed reads no page twice. An error: why a page could not be read, which stays so for that job.
create table ocr_pages (
  document_id uuid not null references documents on delete cascade,
  user_id text not null,
  sha256 text not null,
  page int not null,
  engine text not null,
  confidence real,
  lines jsonb,
  error text,
  primary key (document_id, sha256, page, engine)
);
select tenant_table('ocr_pages');
grant select, insert, update, delete on ocr_pages to sextant_app;
