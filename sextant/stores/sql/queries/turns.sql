-- name: is_waiting
-- Whether a turn of this name waits. PostgreSQL logs each second one that it refuses as an error.
select 1 from procrastinate_jobs where queueing_lock = %(name)s and status = 'todo';

-- name: workers_clock
-- Correct heartbeats in the far future, after the clock was set back; otherwise a dead worker would keep its turns
-- until then.
update procrastinate_workers set last_heartbeat = now() where last_heartbeat > now() + %(stale)s;

-- name: turns_clock
-- Let no turn wait for longer than five minutes.
update procrastinate_jobs set scheduled_at = now()
where status = 'todo' and scheduled_at > now() + interval '5 minutes';
