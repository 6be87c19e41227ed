-- name: queue
-- The numbers of documents of all users by the state of their jobs, and the age of the oldest waiting one.
select * from queue_overview(%(stale)s);

-- name: attendance
-- The numbers of live workers and of graphs that wait for one (`sextant.stores.queue`).
select (select count(*) from sextant_queue.procrastinate_workers
    where last_heartbeat between now() - interval '1 minute' and now() + interval '1 minute')::int as workers,
  (select count(*) from sextant_queue.procrastinate_jobs
    where task_name = 'refresh' and status = 'todo')::int as waiting_graphs;
