-- name: queue
-- Documents by the state of their job, over all users, and for how long the oldest of them waits.
select * from queue_overview(%(stale)s);

-- name: schema_version
-- The last migration that was applied.
select schema_version() as version;
