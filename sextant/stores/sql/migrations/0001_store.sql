-- Documents, sections, chunks, their two indexes, and ingestion jobs.
--
-- Every tenant table carries user_id (whose) and scope_id (which knowledge base), has forced
-- row-level security, and is reached by the application as the role sextant_app, which owns nothing.

-- The owner's operations below meet each table's security as the tenant that the caller has set.
-- The scalar sub-select makes the planner evaluate the setting once per query, not once per row.
create function tenant_table(tenant_table regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', tenant_table);
  execute format('alter table %s force row level security', tenant_table);
  execute format(
    'create policy tenant on %s using '
    '(user_id = (select nullif(current_setting(''sextant.user_id'', true), '''')))', tenant_table);
end $$;
revoke execute on function tenant_table(regclass) from public;

-- A knowledge base. partition_key: 0 while its vectors lie in the shared partition, else scope_id.
create table graphs (
  scope_id int generated always as identity primary key,
  user_id text not null,
  graph_id text not null,
  partition_key int not null default 0,
  created_at timestamptz not null default now(),
  unique (user_id, graph_id)
);

-- A file by its name; the live version is what search sees, the pending one is being ingested.
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
  unique (scope_id, source)
);

-- One version's bytes, so that any worker can resume, and the text that offsets refer to.
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
  primary key (document_id, version)
);
create index on document_versions (scope_id, sha256);
-- Most formats are compressed already.
alter table document_versions alter column content set storage external;

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
  primary key (document_id, version, id),
  foreign key (document_id, version) references document_versions on delete cascade
);

-- Chunks of live versions (and of a first version while it is being ingested).
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
  primary key (scope_id, id)
);
create index on chunks (document_id, ordinal);

-- A chunk with what a reader wants to know of its document; security of the one who reads.
create view found_chunks with (security_invoker) as
select c.scope_id, c.id, c.user_id, c.document_id, d.source, v.filename, v.title as document_title,
  c.section_id, c.ordinal, c.start_offset, c.end_offset, c.text, c.page, c.section_path, c.modality,
  c.context, c.token_count, c.title, c.summary, c.tags, c.topics, c.keywords, c.entities,
  c.topic_labels, c.neighbours, coalesce(c.external_id, v.external_id) as external_id, c.created_at
from chunks c join documents d on d.id = c.document_id
join document_versions v on v.document_id = d.id
  and v.version = coalesce(d.live_version, d.pending_version);
grant select on found_chunks to sextant_app;

-- Vectors apart from the text, so that an exact scan reads little; one partition shared by all small
-- scopes, searched exactly, and one with an HNSW index for each large scope (promote_scope).
create table chunk_vectors (
  partition_key int not null,
  scope_id int not null,
  chunk_id uuid not null,
  user_id text not null,
  embedding vector(384) not null,
  primary key (partition_key, scope_id, chunk_id)
) partition by list (partition_key);
create table chunk_vectors_small partition of chunk_vectors for values in (0);

-- The keyword index: folded is the searched text in lower case, grams its salted n-grams.
-- grams serve only the index, so they go out of line and leave folded to be read cheaply.
create table chunk_grams (
  scope_id int not null,
  chunk_id uuid not null,
  user_id text not null,
  folded text collate "C" not null,
  grams bigint[] not null,
  primary key (scope_id, chunk_id)
);
alter table chunk_grams alter column folded set storage main;
alter table chunk_grams alter column grams set storage external;
create index chunk_grams_grams on chunk_grams using gin (grams);

-- Chunks of a replacement, invisible until it is published. Same columns as chunks, then its indexes'.
create table staged_chunks (
  like chunks,
  embedding vector not null,
  folded text collate "C" not null,
  grams bigint[] not null,
  primary key (document_id, id),
  foreign key (document_id) references documents on delete cascade
);

create table ingestion_jobs (
  id uuid primary key default gen_random_uuid(),
  user_id text not null,
  scope_id int not null,
  graph_id text not null,
  document_id uuid not null references documents on delete cascade,
  version int not null,
  filename text not null,
  stage text not null default 'queued',
  done int not null default 0,
  total int not null default 0,
  attempts int not null default 0,
  worker text,
  heartbeat_at timestamptz,
  error_code text,
  error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index one_open_job on ingestion_jobs (document_id)
  where stage not in ('done', 'failed');
create index on ingestion_jobs (created_at) where stage not in ('done', 'failed');
create index on ingestion_jobs (scope_id, created_at);

-- Which model the vectors come from: one row, the same for all tenants.
create table embedding_space (
  only_row boolean primary key default true check (only_row),
  name text not null,
  dimension int not null,
  created_at timestamptz not null default now()
);
grant select on embedding_space to sextant_app;

do $$
declare tenant_tables text[] := array['graphs', 'documents', 'document_versions', 'sections', 'chunks',
  'chunk_vectors', 'chunk_vectors_small', 'chunk_grams', 'staged_chunks', 'ingestion_jobs'];
  one text;
begin
  foreach one in array tenant_tables loop
    perform tenant_table(one::regclass);
    execute format('grant select, insert, update, delete on %I to sextant_app', one);
  end loop;
end $$;
revoke all on chunk_vectors_small from sextant_app;  -- reached through chunk_vectors only

-- What the owner does for the application across row-level security, function by function.
create policy owner_searches on chunk_grams for select to current_user using (true);
create policy owner_claims on ingestion_jobs to current_user using (true);
create policy owner_places on graphs to current_user using (true);
create policy owner_counts on chunks for select to current_user using (true);

-- Keyword lane. A policy keeps the planner from using the gram index, because array operators are
-- not leakproof (PostgreSQL manual, "Row Security Policies"); so this runs as the owner and checks
-- the tenant itself, first. The + 0 keeps the planner from reading a whole scope by its primary key,
-- which it does when it has no statistics of a new scope yet; octet_length is known without reading
-- a text, where length took half of the time. words[i] has the grams that gram_words pairs with i; a word without
-- grams (shorter than an n-gram) is looked for in every chunk of the scope.
create function search_grams(wanted_scope int, words text[], gram_words int[], gram_values bigint[])
returns table (chunk_id uuid, matched bigint, density float8)
language plpgsql stable security definer
set search_path from current
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set enable_sort = off
as $$
begin
  if not exists (select from graphs where scope_id = wanted_scope
      and user_id = nullif(current_setting('sextant.user_id', true), '')) then
    return;
  end if;
  return query
  with word_grams as (
    select pair.word, array_agg(pair.gram) as grams
    from unnest(gram_words, gram_values) as pair(word, gram) group by pair.word
  ), wanted as materialized (
    select listed.word collate "C" as word, word_grams.grams
    from unnest(words) with ordinality as listed(word, place)
    left join word_grams on word_grams.word = listed.place
  ), hits as (
    select entry.chunk_id, wanted.word, octet_length(entry.folded) as size
    from wanted join chunk_grams entry on entry.grams @> wanted.grams
    where wanted.grams is not null and entry.scope_id + 0 = wanted_scope
      and strpos(entry.folded, wanted.word) > 0
    union all
    select entry.chunk_id, wanted.word, octet_length(entry.folded)
    from wanted join chunk_grams entry on entry.scope_id = wanted_scope
    where wanted.grams is null and strpos(entry.folded, wanted.word) > 0
  )
  select hits.chunk_id, count(*), sum(octet_length(hits.word))::float8 / greatest(1, min(hits.size))
  from hits group by hits.chunk_id;
end $$;
revoke execute on function search_grams(int, text[], int[], bigint[]) from public;
grant execute on function search_grams(int, text[], int[], bigint[]) to sextant_app;

-- Inserts into a GIN index wait in a list that every search reads through (8 ms when it is full);
-- sorting them in bulk costs a third of sorting them one by one. Called after a document is in.
create function tidy_gram_index() returns void language sql security definer
set search_path from current
as $$ select gin_clean_pending_list('chunk_grams_grams') $$;
revoke execute on function tidy_gram_index() from public;
grant execute on function tidy_gram_index() to sextant_app;

-- Gives a grown scope a partition of its own with an HNSW index (m, ef_construction: seed 000).
-- Readers go on meanwhile: they find the scope's rows where their snapshot's partition_key says.
-- Writers of this scope wait. Returns false when there is nothing to do.
create function promote_scope(grown_scope int) returns boolean
language plpgsql security definer
set search_path from current
set maintenance_work_mem = '1GB'
as $$
declare own_partition text := 'chunk_vectors_' || grown_scope;
begin
  perform from graphs where scope_id = grown_scope and partition_key = 0
    and user_id = nullif(current_setting('sextant.user_id', true), '') for no key update;
  if not found then
    return false;
  end if;
  execute format('create table %I (like chunk_vectors including all, check (partition_key = %s))',
    own_partition, grown_scope);
  execute format('insert into %I select %s, scope_id, chunk_id, user_id, embedding
    from chunk_vectors_small where partition_key = 0 and scope_id = %2$s', own_partition, grown_scope);
  execute format('create index on %I using hnsw (embedding vector_cosine_ops)
    with (m = 16, ef_construction = 64)', own_partition);
  perform tenant_table(own_partition::regclass);
  execute format('analyze %I', own_partition);  -- else the planner thinks it empty and sorts it
  execute format('alter table chunk_vectors attach partition %I for values in (%s)',
    own_partition, grown_scope);
  delete from chunk_vectors_small where partition_key = 0 and scope_id = grown_scope;
  update graphs set partition_key = grown_scope where scope_id = grown_scope;
  return true;
end $$;
revoke execute on function promote_scope(int) from public;
grant execute on function promote_scope(int) to sextant_app;

-- Takes the oldest waiting or abandoned job of any tenant; only_job and only_user narrow the choice.
create function claim_job(
  claimer text, stale_after interval, only_job uuid, only_user text)
returns setof ingestion_jobs language sql security definer
set search_path from current
as $$
  update ingestion_jobs set worker = claimer, attempts = attempts + 1, heartbeat_at = now(),
    updated_at = now(), error_code = null, error = null
  where id = (
    select id from ingestion_jobs
    where stage not in ('done', 'failed')
      and (only_job is null or id = only_job) and (only_user is null or user_id = only_user)
      and (worker is null or heartbeat_at < now() - stale_after)
    order by created_at limit 1 for update skip locked
  )
  returning *;
$$;
revoke execute on function claim_job(text, interval, uuid, text) from public;
grant execute on function claim_job(text, interval, uuid, text) to sextant_app;

-- The same rows as one table for LangChain's PGVectorStore: id, content, embedding, metadata.
-- It shows one knowledge base, that of the session's sextant.user_id and sextant.graph_id, and nothing
-- when they are not set, because a LangChain filter that is forgotten must not open other tenants'
-- rows. The scalar sub-selects let the planner skip the other partitions and use this one's index;
-- the lateral join (each vector has its chunk) makes it go by vectors, nearest first, and look chunks
-- up as it goes, where it would otherwise join all of them before it sorts.
-- A function, because the view must make way when the length of the vectors changes.
create function show_to_langchain() returns void language plpgsql
set search_path from current
as $$
begin
  create view langchain_chunks with (security_invoker) as
  select c.id, c.text as content, v.embedding, v.user_id,
    nullif(current_setting('sextant.graph_id', true), '') as graph_id,
    c.document_id::text as document_id, c.source, c.filename, c.document_title as title,
    c.section_id::text as section_id, array_to_string(c.section_path, ' > ') as section_path,
    c.page, c.start_offset, c.end_offset, c.ordinal, c.modality, c.context, c.external_id,
    c.created_at
  from chunk_vectors v
  left join lateral (
    select * from found_chunks f where f.scope_id = v.scope_id and f.id = v.chunk_id offset 0
  ) c on true
  where v.partition_key = (select partition_key from graphs
      where user_id = nullif(current_setting('sextant.user_id', true), '')
        and graph_id = nullif(current_setting('sextant.graph_id', true), ''))
    and v.scope_id = (select scope_id from graphs
      where user_id = nullif(current_setting('sextant.user_id', true), '')
        and graph_id = nullif(current_setting('sextant.graph_id', true), ''));
  grant select on langchain_chunks to sextant_app;
end $$;
revoke execute on function show_to_langchain() from public;
select show_to_langchain();

-- Empties all vectors and gives them another length, when the embedding model changes.
create function reset_vectors(new_name text, new_dimension int) returns void
language plpgsql
set search_path from current
as $$
declare own_partition text;
begin
  for own_partition in select 'chunk_vectors_' || scope_id from graphs where partition_key <> 0 loop
    execute format('drop table %I', own_partition);
  end loop;
  update graphs set partition_key = 0 where partition_key <> 0;
  truncate chunk_vectors, staged_chunks;
  drop view langchain_chunks;
  execute format('alter table chunk_vectors alter column embedding type vector(%s)', new_dimension);
  perform show_to_langchain();
  -- Whoever still ingests with the old model loses the claim.
  update ingestion_jobs set attempts = attempts + 1, worker = null
    where stage not in ('done', 'failed');
  insert into embedding_space (name, dimension) values (new_name, new_dimension)
    on conflict (only_row) do update set name = excluded.name, dimension = excluded.dimension,
      created_at = now();
end $$;
revoke execute on function reset_vectors(text, int) from public;
