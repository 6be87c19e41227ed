-- name: known
-- The conversations of a user after a place in their order, the latest first. A key is 32 characters
-- of hash, a colon, the name; one of the graph's own runs has no row of ours.
with all_of_them as (
  select k.thread_id, coalesce(min(c.title), '') as title,
    coalesce(min(c.created_at), min(k.created_at)) as created_at,
    coalesce(max(c.updated_at), max(k.created_at)) as updated_at
  from checkpoints k left join conversations c on c.key = k.thread_id
  where k.user_id = %(user_id)s group by k.thread_id
)
select substr(thread_id, 34) as thread_id, title, created_at, updated_at from all_of_them
where %(before)s::timestamptz is null
  or (updated_at, thread_id) < (%(before)s::timestamptz, %(before_key)s)
order by updated_at desc, thread_id desc limit %(limit)s;

-- name: begin
-- Take a conversation for a turn; no row if another turn has it.
insert into conversations as c (key, title, busy_until)
values (%(key)s, %(title)s, clock_timestamp() + %(time)s)
on conflict (key) do update set busy_until = excluded.busy_until
  where c.busy_until is null or c.busy_until < clock_timestamp()
returning busy_until, xmax = 0 as new;

-- name: renew
-- Extend the turn; no row if it was lost.
update conversations set busy_until = clock_timestamp() + %(time)s
where key = %(key)s and busy_until = %(busy_until)s
returning busy_until;

-- name: free_in
-- The seconds after which the current turn counts as lost.
select greatest(1, ceil(extract(epoch from busy_until - clock_timestamp())))::int
from conversations where key = %(key)s and busy_until is not null;

-- name: end
-- End the turn; no row if another turn has taken the conversation.
update conversations set busy_until = null, updated_at = now()
where key = %(key)s and busy_until = %(busy_until)s
returning key;

-- name: rename
-- Give a conversation another title; no row if there is none.
update conversations set title = %(title)s where key = %(key)s
returning key;

-- name: stale
-- Conversations without a turn for a long time.
select k.thread_id from checkpoints k left join conversations c on c.key = k.thread_id
where k.user_id = %(user_id)s group by k.thread_id
having coalesce(max(c.updated_at), max(k.created_at)) < now() - %(age)s;

-- name: keep_one
-- Keep only the newest checkpoint of a conversation with its values: after its turn or, if that failed, before it.
with kept as (
  select thread_id, checkpoint_ns, checkpoint_id, checkpoint from checkpoints
  where thread_id = %(key)s and checkpoint_ns = ''
  order by case when %(done)s then checkpoint_id end desc, checkpoint_id limit 1
), steps as (
  delete from checkpoints c using kept k where c.thread_id = k.thread_id
    and c.checkpoint_ns = k.checkpoint_ns and c.checkpoint_id <> k.checkpoint_id
), writes as (
  delete from checkpoint_writes w using kept k where w.thread_id = k.thread_id
    and w.checkpoint_ns = k.checkpoint_ns and w.checkpoint_id <> k.checkpoint_id
)
delete from checkpoint_blobs b using kept k where b.thread_id = k.thread_id
  and b.checkpoint_ns = k.checkpoint_ns
  and b.version is distinct from (k.checkpoint -> 'channel_versions' ->> b.channel);

-- name: forget_parts
-- Delete checkpoints of inner graphs, such as a report in the making, which are never resumed.
with parts as (delete from checkpoints where thread_id = %(key)s and checkpoint_ns <> ''),
  writes as (delete from checkpoint_writes where thread_id = %(key)s and checkpoint_ns <> '')
delete from checkpoint_blobs where thread_id = %(key)s and checkpoint_ns <> '';

-- name: forget
-- Delete conversations.
with gone as (delete from checkpoints where thread_id = any(%(keys)s) returning thread_id),
  blobs as (delete from checkpoint_blobs where thread_id = any(%(keys)s)),
  writes as (delete from checkpoint_writes where thread_id = any(%(keys)s)),
  named as (delete from conversations where key = any(%(keys)s) returning key)
select count(*) from (select thread_id from gone union select key from named) as either;
