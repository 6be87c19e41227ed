-- name: claim
-- Claim the oldest job of a user that waits or whose worker has died.
select * from claim_job(%(worker)s, %(stale)s, %(job_id)s, %(user_id)s);

-- name: claim_all
-- Claim these jobs of a user, as `claim` does.
select claimed.* from unnest(%(job_ids)s::uuid[]) as wanted (id)
cross join lateral claim_job(%(worker)s, %(stale)s, wanted.id, %(user_id)s) as claimed;

-- name: alone
-- Let one claim of a user run at a time until the transaction ends, so that the limit holds.
select pg_advisory_xact_lock(hashtextextended('sextant.claim/' || %(user_id)s, 0));

-- name: running
-- The number of a user's jobs that live workers run.
select count(*)::int as number from ingestion_jobs
where user_id = %(user_id)s and stage not in ('done', 'failed')
  and worker is not null and heartbeat_at >= now() - %(stale)s;

-- name: beat
-- Record for the jobs that are due that their workers are alive, with their progress if there is any; return the jobs
-- whose claims are valid, or that are just done. Locked rows are skipped, since somebody is writing to them.
with beats as materialized (
  select * from unnest(%(job_ids)s::uuid[], %(attempts)s::int[], %(workers)s::text[], %(due)s::bool[],
    %(stages)s::text[], %(done)s::int[], %(totals)s::int[]) as b (id, attempts, worker, due, stage, done, total)
), held as materialized (
  select j.id from ingestion_jobs j join beats b using (id, attempts)
  where j.user_id = %(user_id)s and b.due and j.stage not in ('done', 'failed') for update of j skip locked
), written as (
  update ingestion_jobs j set stage = coalesce(b.stage, j.stage), done = coalesce(b.done, j.done),
    total = coalesce(b.total, j.total), worker = b.worker, heartbeat_at = now(), updated_at = now()
  from held join beats b using (id) where j.id = held.id
)
select j.id from ingestion_jobs j join beats b using (id, attempts)
where j.user_id = %(user_id)s and j.stage <> 'failed';

-- name: finish
-- Close jobs as done, with warnings; publishing may have closed them already.
update ingestion_jobs j set stage = 'done', total = coalesce(ended.total, j.total),
  done = coalesce(ended.total, j.total), worker = null, warnings = ended.warnings, updated_at = now()
from unnest(%(job_ids)s::uuid[], %(attempts)s::int[], %(totals)s::int[], %(warnings)s::jsonb[])
  as ended (id, attempts, total, warnings)
where j.user_id = %(user_id)s and j.id = ended.id and j.attempts = ended.attempts
  and j.stage <> 'failed' returning j.id;

-- name: fail
-- Close a job as failed, with the reason; withdrawing the version may have closed it already.
update ingestion_jobs set stage = 'failed', worker = null, updated_at = now(),
  error_code = %(error_code)s, error = %(error)s
where user_id = %(user_id)s and id = %(job_id)s and attempts = %(attempts)s
  and stage <> 'done' returning id;

-- name: release
-- Release a job for another attempt after a time, with the reason.
update ingestion_jobs set stage = 'queued', worker = null, updated_at = now(),
  error_code = %(error_code)s, error = %(error)s, released = released + 1,
  not_before = now() + %(wait)s
where user_id = %(user_id)s and id = %(job_id)s and attempts = %(attempts)s
  and stage not in ('done', 'failed') returning id;

-- name: set_clock
-- After the clock was set back, heartbeats in the far future count as of now, or a dead worker would keep its job
-- until then; and no job waits for longer than five minutes (`sextant/ingestion/job_runner.py`).
with ahead as materialized (select id from ingestion_jobs
  where user_id = %(user_id)s and stage not in ('done', 'failed')
    and (heartbeat_at > now() + %(stale)s or not_before > now() + interval '5 minutes') for update skip locked)
update ingestion_jobs j set
  heartbeat_at = case when heartbeat_at > now() then now() else heartbeat_at end,
  not_before = case when not_before > now() + interval '5 minutes' then now() else not_before end
from ahead where j.id = ahead.id;

-- name: free_of_dead
-- Release a user's jobs without a heartbeat for so long. Locked rows are skipped, since somebody is writing to
-- them, and waiting could deadlock.
with held as materialized (select id from ingestion_jobs
  where user_id = %(user_id)s and stage not in ('done', 'failed')
    and worker is not null and heartbeat_at < now() - %(stale)s for update skip locked)
update ingestion_jobs j set stage = 'queued', worker = null, updated_at = now()
from held where j.id = held.id;

-- name: get
-- One job.
select * from ingestion_jobs where user_id = %(user_id)s and id = %(job_id)s;

-- name: backlog
-- The numbers of waiting and running jobs, of one user or of each.
select * from job_backlog(%(stale)s, %(user_id)s);

-- name: open_jobs
-- The number of open jobs of a knowledge base that could run now.
select count(*)::int as number from ingestion_jobs
where user_id = %(user_id)s and graph_id = %(graph_id)s and stage not in ('done', 'failed')
  and (not_before is null or not_before <= now());

-- name: hurry
-- Mark small files of a user with few open jobs as urgent, ahead of bulk loads; running jobs are left out.
with held as materialized (select id from ingestion_jobs
  where user_id = %(user_id)s and id = any(%(job_ids)s) and not urgent for update skip locked)
update ingestion_jobs j set urgent = true
from held, document_versions v
where j.user_id = %(user_id)s and j.id = held.id
  and v.document_id = j.document_id and v.version = j.version and v.size_bytes <= %(most_bytes)s
  and (select count(*) from ingestion_jobs o
    where o.user_id = %(user_id)s and o.stage not in ('done', 'failed')) <= %(most_waiting)s;
