-- Who takes a job begins to read its file: whoever watches it sees that at once, without a further statement.
create or replace function claim_job(
  claimer text, stale_after interval, only_job uuid, only_user text)
returns setof ingestion_jobs language sql security definer
set search_path from current
as $$
  update ingestion_jobs set worker = claimer, attempts = attempts + 1, heartbeat_at = now(),
    updated_at = now(), error_code = null, error = null, not_before = null, stage = 'parse'
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
