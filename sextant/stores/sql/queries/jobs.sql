-- name: claim
-- Claim the oldest job of a user that waits or whose worker has died.
select * from claim_job(%(worker)s, %(stale)s, %(job_id)s, %(user_id)s);

-- name: alone
-- Let one claim of a user run at a time until the transaction ends, so that the limit holds.
select pg_advisory_xact_lock(hashtextextended('sextant.claim/' || %(user_id)s, 0));

-- name: running
-- The number of a user's jobs that live workers run.
select count(*)::int as number from ingestion_jobs
where user_id = %(user_id)s and stage not in ('done', 'failed')
  and worker is not null and heartbeat_at >= now() - %(stale)s;

-- name: heartbeat
-- Record that the worker is alive; no row if the job was closed or taken over.
update ingestion_jobs set worker = %(worker)s, heartbeat_at = now(), updated_at = now()
where user_id = %(user_id)s and id = %(job_id)s and attempts = %(attempts)s
  and stage not in ('done', 'failed') returning id;

-- name: progress
-- Record the progress of a job; counts as a heartbeat.
update ingestion_jobs set stage = %(stage)s, done = %(done)s, total = %(total)s,
  worker = %(worker)s, heartbeat_at = now(), updated_at = now()
where user_id = %(user_id)s and id = %(job_id)s and attempts = %(attempts)s
  and stage not in ('done', 'failed') returning id;

-- name: finish
-- Close a job as done, with warnings; publishing may have closed it already.
update ingestion_jobs set stage = 'done', total = coalesce(%(total)s::int, total),
  done = coalesce(%(total)s::int, total), worker = null, warnings = %(warnings)s, updated_at = now()
where user_id = %(user_id)s and id = %(job_id)s and attempts = %(attempts)s
  and stage <> 'failed' returning id;

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

-- name: list
-- The jobs of a knowledge base, newest first.
select * from ingestion_jobs
where user_id = %(user_id)s and graph_id = %(graph_id)s order by created_at desc, id;

-- name: get
-- One job.
select * from ingestion_jobs where user_id = %(user_id)s and id = %(job_id)s;

-- name: is_mine
-- Whether this worker still has the job, or has just finished it.
select from ingestion_jobs
where user_id = %(user_id)s and id = %(job_id)s and attempts = %(attempts)s
  and stage <> 'failed';

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
