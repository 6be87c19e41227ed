-- name: claim
-- The oldest job of a user that waits or whose worker has died.
select * from claim_job(%(worker)s, %(stale)s, %(job_id)s, %(user_id)s);

-- name: alone
-- One claim at a time for a user, so that none is counted out; until the transaction ends.
select pg_advisory_xact_lock(hashtextextended('sextant.claim/' || %(user_id)s, 0));

-- name: running
-- How many jobs of a user are in the hands of workers that live.
select count(*)::int as number from ingestion_jobs
where user_id = %(user_id)s and stage not in ('done', 'failed')
  and worker is not null and heartbeat_at >= now() - %(stale)s;

-- name: heartbeat
-- The worker lives, and has the job still if it was thought dead; no row when that was closed or taken over.
update ingestion_jobs set worker = %(worker)s, heartbeat_at = now(), updated_at = now()
where user_id = %(user_id)s and id = %(job_id)s and attempts = %(attempts)s
  and stage not in ('done', 'failed') returning id;

-- name: progress
-- How far the work is; also a heartbeat.
update ingestion_jobs set stage = %(stage)s, done = %(done)s, total = %(total)s,
  worker = %(worker)s, heartbeat_at = now(), updated_at = now()
where user_id = %(user_id)s and id = %(job_id)s and attempts = %(attempts)s
  and stage not in ('done', 'failed') returning id;

-- name: finish
-- Done, with what the document lacks; publishing may have closed the job already.
update ingestion_jobs set stage = 'done', total = coalesce(%(total)s::int, total),
  done = coalesce(%(total)s::int, total), worker = null, warnings = %(warnings)s, updated_at = now()
where user_id = %(user_id)s and id = %(job_id)s and attempts = %(attempts)s
  and stage <> 'failed' returning id;

-- name: fail
-- Given up, with the reason; also where taking the version back has closed the job already.
update ingestion_jobs set stage = 'failed', worker = null, updated_at = now(),
  error_code = %(error_code)s, error = %(error)s
where user_id = %(user_id)s and id = %(job_id)s and attempts = %(attempts)s
  and stage <> 'done' returning id;

-- name: release
-- Put back for another try after a while, with the reason.
update ingestion_jobs set stage = 'queued', worker = null, updated_at = now(),
  error_code = %(error_code)s, error = %(error)s, released = released + 1,
  not_before = now() + %(wait)s
where user_id = %(user_id)s and id = %(job_id)s and attempts = %(attempts)s
  and stage not in ('done', 'failed') returning id;

-- name: set_clock
-- After the clock went back: what a user's workers said in a future that is further away than they are given is of
-- now, or one that died would keep its job until then; and no job waits for longer than five minutes
-- (`sextant/ingestion/job_runner.py`).
with ahead as materialized (select id from ingestion_jobs
  where user_id = %(user_id)s and stage not in ('done', 'failed')
    and (heartbeat_at > now() + %(stale)s or not_before > now() + interval '5 minutes') for update skip locked)
update ingestion_jobs j set
  heartbeat_at = case when heartbeat_at > now() then now() else heartbeat_at end,
  not_before = case when not_before > now() + interval '5 minutes' then now() else not_before end
from ahead where j.id = ahead.id;

-- name: free_of_dead
-- Back in the queue: what a user's workers have that sent no heartbeat for so long. What somebody writes to at
-- this moment is in good hands, and to wait for it with other jobs in hand could be for ever.
with held as materialized (select id from ingestion_jobs
  where user_id = %(user_id)s and stage not in ('done', 'failed')
    and worker is not null and heartbeat_at < now() - %(stale)s for update skip locked)
update ingestion_jobs j set stage = 'queued', worker = null, updated_at = now()
from held where j.id = held.id;

-- name: take_from_dead
-- Free for the next worker, if that one still has it.
update ingestion_jobs set worker = null, updated_at = now()
where user_id = %(user_id)s and id = %(job_id)s and attempts = %(attempts)s
  and worker = %(worker)s and stage not in ('done', 'failed');

-- name: list
-- The jobs of a knowledge base, newest first.
select * from ingestion_jobs
where user_id = %(user_id)s and graph_id = %(graph_id)s order by created_at desc, id;

-- name: get
-- One job.
select * from ingestion_jobs where user_id = %(user_id)s and id = %(job_id)s;

-- name: is_mine
-- Whether a job is in the hands of the worker who asks, who alone can have done it.
select from ingestion_jobs
where user_id = %(user_id)s and id = %(job_id)s and attempts = %(attempts)s
  and stage <> 'failed';

-- name: backlog
-- What waits and what runs, of one tenant or of each.
select * from job_backlog(%(stale)s, %(user_id)s);

-- name: open_jobs
-- How many jobs of a knowledge base are not closed, and could go on now.
select count(*)::int as number from ingestion_jobs
where user_id = %(user_id)s and graph_id = %(graph_id)s and stage not in ('done', 'failed')
  and (not_before is null or not_before <= now());

-- name: hurry
-- What a person waits for goes before what lies longer: small files of a user with few open jobs. What somebody
-- has in hand already needs no hurry.
with held as materialized (select id from ingestion_jobs
  where user_id = %(user_id)s and id = any(%(job_ids)s) and not urgent for update skip locked)
update ingestion_jobs j set urgent = true
from held, document_versions v
where j.user_id = %(user_id)s and j.id = held.id
  and v.document_id = j.document_id and v.version = j.version and v.size_bytes <= %(most_bytes)s
  and (select count(*) from ingestion_jobs o
    where o.user_id = %(user_id)s and o.stage not in ('done', 'failed')) <= %(most_waiting)s;
