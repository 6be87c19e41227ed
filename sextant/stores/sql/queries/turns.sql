-- name: workers_clock
-- Correct heartbeats in the far future, after the clock was set back; otherwise a dead worker would keep its turns
-- until then.
update procrastinate_workers set last_heartbeat = now() where last_heartbeat > now() + %(stale)s;

-- name: turns_clock
-- Let no turn wait for longer than five minutes.
update procrastinate_jobs set scheduled_at = now()
where status = 'todo' and scheduled_at > now() + interval '5 minutes';
