-- name: queue
-- Documents by the state of their job, over all users, and for how long the oldest of them waits.
select * from queue_overview(%(stale)s);

-- name: attendance
-- How many workers live, and how many graphs wait for one (`sextant.stores.work.queue`).
select (select count(*) from sextant_queue.procrastinate_workers
    where last_heartbeat between now() - interval '1 minute' and now() + interval '1 minute')::int as workers,
  (select count(*) from sextant_queue.procrastinate_jobs
    where task_name = 'refresh' and status = 'todo')::int as waiting_graphs;
