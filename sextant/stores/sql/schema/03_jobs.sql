-- Ingestion jobs. The queue library (procrastinate) hands out turns; which job a turn takes, and how far it is,
-- is stored here. The library's own tables are in a schema of their own, made from the files that it brings
-- (stores/postgresql/migrations.py).

create schema sextant_queue;
grant usage on schema sextant_queue to sextant_app;
create table sextant_queue.applied_migrations (
  name text primary key,
  applied_at timestamptz not null default now()
);

-- urgent: served before jobs that have waited longer. not_before: when a failed job is tried again. released: how
-- many attempts were given up in good order, and so do not count against the file. warnings: sentences, in order,
-- about what of the document was not ingested though the job is done.
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
  updated_at timestamptz not null default now(),
  urgent boolean not null default false,
  not_before timestamptz,
  released int not null default 0,
  warnings jsonb not null default '[]'
);
create unique index one_open_job on ingestion_jobs (document_id)
  where stage not in ('done', 'failed');
create index on ingestion_jobs (created_at) where stage not in ('done', 'failed');
create index on ingestion_jobs (scope_id, created_at);
-- Clients that watch a document ask for its newest job.
create index on ingestion_jobs (document_id, created_at);
create index on ingestion_jobs (document_id) where stage = 'failed';
select tenant_table('ingestion_jobs');
grant select, insert, update, delete on ingestion_jobs to sextant_app;
-- For job_backlog and queue_overview, which count the jobs of all tenants.
create policy owner_claims on ingestion_jobs to current_user using (true);

-- Takes the next waiting or abandoned job of one user, urgent ones first; only_job names the job, which then does
-- not wait for its next try. Clients that watch the job see at once that its file is being read.
create function claim_job(
  claimer text, stale_after interval, only_job uuid, only_user text)
returns setof ingestion_jobs language sql security invoker
set search_path from current
as $$
  update ingestion_jobs set worker = claimer, attempts = attempts + 1, heartbeat_at = now(),
    updated_at = now(), error_code = null, error = null, not_before = null, stage = 'parse'
  where id = (
    select id from ingestion_jobs
    where stage not in ('done', 'failed') and user_id = only_user
      and (only_job is null or id = only_job)
      and (worker is null or heartbeat_at < now() - stale_after)
      and (only_job is not null or not_before is null or not_before <= now())
    order by urgent desc, created_at limit 1 for update skip locked
  )
  returning *;
$$;
revoke execute on function claim_job(text, interval, uuid, text) from public;
grant execute on function claim_job(text, interval, uuid, text) to sextant_app;

-- How many jobs of a tenant wait and run; urgent ones are among those waiting. Without a tenant in the session
-- (the sweeper) of every tenant, else of the session's alone.
create function job_backlog(stale_after interval, only_user text)
returns table (user_id text, waiting int, urgent int, running int) language sql stable
security definer
set search_path from current
as $$
  select user_id,
    count(*) filter (where free and due)::int,
    count(*) filter (where free and due and urgent)::int,
    count(*) filter (where not free)::int
  from (
    select user_id, urgent, worker is null or heartbeat_at < now() - stale_after as free,
      not_before is null or not_before <= now() as due
    from ingestion_jobs
    where stage not in ('done', 'failed') and (only_user is null or user_id = only_user) and case
      when nullif(current_setting('sextant.user_id', true), '') is null then only_user is null
      else user_id = current_setting('sextant.user_id') end
  ) open_jobs
  group by user_id
$$;
revoke execute on function job_backlog(interval, text) from public;
grant execute on function job_backlog(interval, text) to sextant_app;

-- How many jobs of the whole database wait, run and have failed: numbers only, so it may count every tenant's rows.
create function queue_overview(stale_after interval)
returns table (waiting int, running int, failed int, oldest_waiting_seconds float8)
language sql stable security definer
set search_path from current
as $$
  select count(*) filter (where free)::int, count(*) filter (where not free)::int,
    (select count(*)::int from ingestion_jobs as lost where stage = 'failed' and not exists (
      select from ingestion_jobs as later
      where later.document_id = lost.document_id and later.created_at > lost.created_at)),
    coalesce(extract(epoch from now() - min(created_at) filter (where free and due)), 0)::float8
  from (
    select created_at, worker is null or heartbeat_at < now() - stale_after as free,
      not_before is null or not_before <= now() as due
    from ingestion_jobs where stage not in ('done', 'failed')
  ) open_jobs
$$;
revoke execute on function queue_overview(interval) from public;
grant execute on function queue_overview(interval) to sextant_app;

-- Documents as they are listed: by their live version, else by the pending one.
create view described_documents with (security_invoker) as
select d.scope_id, g.user_id, g.graph_id, d.id, d.source, v.filename, v.title, v.media_type, v.sha256,
  v.size_bytes, d.status, v.language, v.page_count, d.chunk_count, v.external_id, v.metadata,
  d.created_at, d.updated_at,
  (select j.error from ingestion_jobs j
    where j.document_id = d.id and j.stage = 'failed' and d.status = 'failed'
    order by j.updated_at desc limit 1) as error,
  array(select c.source from document_copies c
    where c.scope_id = d.scope_id and c.document_id = d.id order by c.created_at, c.source) as copies,
  v.coverage, d.parent_id
from documents d join graphs g on g.scope_id = d.scope_id
join document_versions v on v.document_id = d.id
  and v.version = coalesce(d.live_version, d.pending_version);
grant select on described_documents to sextant_app;
