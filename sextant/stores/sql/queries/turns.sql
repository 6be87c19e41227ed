-- name: workers_clock
-- After the clock went back: what workers said in a future that is further away than they are given is of now, or
-- one that died would keep its turns until then.
update procrastinate_workers set last_heartbeat = now() where last_heartbeat > now() + %(stale)s;

-- name: turns_clock
-- And no turn waits for longer than five minutes.
update procrastinate_jobs set scheduled_at = now()
where status = 'todo' and scheduled_at > now() + interval '5 minutes';
