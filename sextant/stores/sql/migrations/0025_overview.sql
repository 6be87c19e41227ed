-- What a server tells of the whole database without telling of anybody: how much waits, runs and has
-- failed, and which schema it has. Counts only, so it may look at every tenant's rows.
create index on ingestion_jobs (document_id) where stage = 'failed';

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

create function schema_version() returns int language sql stable security definer
set search_path from current
as $$ select max(version) from schema_migrations $$;
revoke execute on function schema_version() from public;
grant execute on function schema_version() to sextant_app;
