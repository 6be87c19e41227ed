-- Chunks: the slices of documents that are indexed, found and cited.

-- Chunks of live versions (and of a first version while it is being ingested). described_by: who wrote title,
-- summary and the lists ('extract': the offline extraction, 'llm': a chat model).
-- describe_tries: how often a chat model failed to.
create table chunks (
  scope_id int not null,
  id uuid not null,
  user_id text not null,
  document_id uuid not null references documents on delete cascade,
  section_id uuid not null,
  ordinal int not null,
  start_offset int not null,
  end_offset int not null,
  text text not null,
  page int,
  section_path text[] not null,
  modality text not null,
  context text not null,
  token_count int not null,
  title text not null,
  summary text not null,
  tags text[] not null,
  topics text[] not null,
  keywords text[] not null,
  entities text[] not null,
  topic_labels text[] not null,
  neighbours uuid[] not null,
  external_id text,
  created_at timestamptz not null,
  described_by text not null default 'extract',
  describe_tries int not null default 0,
  primary key (scope_id, id)
);
create index on chunks (document_id, ordinal);
select tenant_table('chunks');
grant select, insert, update, delete on chunks to sextant_app;
create policy owner_counts on chunks for select to current_user using (true);

-- Chunks of a new version, invisible until it is published: the columns of chunks, then those of the indexes.
create table staged_chunks (
  scope_id int not null,
  id uuid not null,
  user_id text not null,
  document_id uuid not null references documents on delete cascade,
  section_id uuid not null,
  ordinal int not null,
  start_offset int not null,
  end_offset int not null,
  text text not null,
  page int,
  section_path text[] not null,
  modality text not null,
  context text not null,
  token_count int not null,
  title text not null,
  summary text not null,
  tags text[] not null,
  topics text[] not null,
  keywords text[] not null,
  entities text[] not null,
  topic_labels text[] not null,
  neighbours uuid[] not null,
  external_id text,
  created_at timestamptz not null,
  embedding vector not null,
  folded text collate "C" not null,
  grams int[] not null,
  primary key (document_id, id)
);
select tenant_table('staged_chunks');
grant select, insert, update, delete on staged_chunks to sextant_app;

-- A chunk with what its document adds to a result.
create view found_chunks with (security_invoker) as
select c.scope_id, c.id, c.user_id, c.document_id, d.source, v.filename, v.title as document_title,
  c.section_id, c.ordinal, c.start_offset, c.end_offset, c.text, c.page, c.section_path, c.modality,
  c.context, c.token_count, c.title, c.summary, c.tags, c.topics, c.keywords, c.entities,
  c.topic_labels, c.neighbours, coalesce(c.external_id, v.external_id) as external_id, c.created_at
from chunks c join documents d on d.id = c.document_id
join document_versions v on v.document_id = d.id
  and v.version = coalesce(d.live_version, d.pending_version);
grant select on found_chunks to sextant_app;

-- Whether a path of titles begins with others; patterns are regular expressions, one for each title.
create function path_begins(path text[], patterns text[]) returns boolean
language sql immutable parallel safe as $$
  select cardinality(path) >= cardinality(patterns) and not exists (
    select from unnest(patterns) with ordinality as wanted(pattern, place)
    where path[place] !~* pattern)
$$;

-- Searches and what they returned, where the log is switched on; it holds no text of documents.
create table search_log (
  id bigint generated always as identity primary key,
  scope_id int not null,
  user_id text not null,
  at timestamptz not null default now(),
  query text not null,
  request jsonb not null,
  results jsonb not null,
  warnings text[] not null,
  milliseconds float8 not null
);
create index on search_log (scope_id, at);
select tenant_table('search_log');
grant select, insert, delete on search_log to sextant_app;
