-- name: known
-- The conversations of a user, the latest first. A key is 32 characters of hash, a colon, the name.
select substr(thread_id, 34) as thread_id, min(created_at) as created_at, max(created_at) as updated_at
from checkpoints where user_id = %(user_id)s group by thread_id
order by max(created_at) desc, thread_id limit %(limit)s;

-- name: stale
-- Those in which nothing was said for long.
select thread_id from checkpoints where user_id = %(user_id)s group by thread_id
having max(created_at) < now() - %(age)s;

-- name: keep_latest
-- Of a conversation only where it is now: its last checkpoint, and the values that this one holds.
with newest as (
  select thread_id, checkpoint_ns, checkpoint_id, checkpoint from checkpoints
  where thread_id = %(key)s and checkpoint_ns = '' order by checkpoint_id desc limit 1
), steps as (
  delete from checkpoints c using newest n where c.thread_id = n.thread_id
    and c.checkpoint_ns = n.checkpoint_ns and c.checkpoint_id < n.checkpoint_id
), writes as (
  delete from checkpoint_writes w using newest n where w.thread_id = n.thread_id
    and w.checkpoint_ns = n.checkpoint_ns and w.checkpoint_id < n.checkpoint_id
)
delete from checkpoint_blobs b using newest n where b.thread_id = n.thread_id
  and b.checkpoint_ns = n.checkpoint_ns
  and b.version is distinct from (n.checkpoint -> 'channel_versions' ->> b.channel);

-- name: forget
-- Conversations with all that was kept of them.
with gone as (delete from checkpoints where thread_id = any(%(keys)s) returning thread_id),
  blobs as (delete from checkpoint_blobs where thread_id = any(%(keys)s)),
  writes as (delete from checkpoint_writes where thread_id = any(%(keys)s))
select count(distinct thread_id) from gone;
