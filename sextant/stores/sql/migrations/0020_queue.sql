-- Ingestion by any number of workers. The queue library (procrastinate) hands out turns; which job a
-- turn takes, and how far it is, stays in ingestion_jobs. The library's own tables go into a schema of
-- their own, from the files that it brings (stores/queue_schema.py).
create schema sextant_queue;
grant usage on schema sextant_queue to sextant_app;
create table sextant_queue.applied_migrations (
  name text primary key,
  applied_at timestamptz not null default now()
);

-- urgent: goes before what lies longer. not_before: when a job that could not be done is tried again.
-- released: how many of its attempts were given up in good order, so no fault of the file.
alter table ingestion_jobs add column urgent boolean not null default false;
alter table ingestion_jobs add column not_before timestamptz;
alter table ingestion_jobs add column released int not null default 0;

-- Takes the next waiting or abandoned job of any tenant, urgent ones first; only_job and only_user
-- narrow the choice. Who names the job itself does not wait for its next try.
create or replace function claim_job(
  claimer text, stale_after interval, only_job uuid, only_user text)
returns setof ingestion_jobs language sql security definer
set search_path from current
as $$
  update ingestion_jobs set worker = claimer, attempts = attempts + 1, heartbeat_at = now(),
    updated_at = now(), error_code = null, error = null, not_before = null
  where id = (
    select id from ingestion_jobs
    where stage not in ('done', 'failed')
      and (only_job is null or id = only_job) and (only_user is null or user_id = only_user)
      and (worker is null or heartbeat_at < now() - stale_after)
      and (only_job is not null or not_before is null or not_before <= now())
    order by urgent desc, created_at limit 1 for update skip locked
  )
  returning *;
$$;

-- What waits and what runs, of one tenant or of each, for whoever hands out turns; urgent counts those
-- among the waiting.
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
    where stage not in ('done', 'failed') and (only_user is null or user_id = only_user)
  ) open_jobs
  group by user_id
$$;
revoke execute on function job_backlog(interval, text) from public;
grant execute on function job_backlog(interval, text) to sextant_app;

-- What an upload with an Idempotency-Key was answered; null while it is under way.
create table idempotent_answers (
  user_id text not null,
  key text not null,
  request_sha256 text not null,
  answer jsonb,
  created_at timestamptz not null default now(),
  primary key (user_id, key)
);
create index on idempotent_answers (created_at);
select tenant_table('idempotent_answers');
grant select, insert, update, delete on idempotent_answers to sextant_app;

-- A document's newest job is looked for whenever somebody watches it.
create index on ingestion_jobs (document_id, created_at);

-- Documents as they are listed, by their live version, else by the one that is coming; security of
-- the one who reads.
create view described_documents with (security_invoker) as
select d.scope_id, g.user_id, g.graph_id, d.id, d.source, v.filename, v.title, v.media_type, v.sha256,
  v.size_bytes, d.status, v.language, v.page_count, d.chunk_count, v.external_id, v.metadata,
  d.created_at, d.updated_at,
  (select j.error from ingestion_jobs j
    where j.document_id = d.id and j.stage = 'failed' and d.status = 'failed'
    order by j.updated_at desc limit 1) as error
from documents d join graphs g on g.scope_id = d.scope_id
join document_versions v on v.document_id = d.id
  and v.version = coalesce(d.live_version, d.pending_version);
grant select on described_documents to sextant_app;
