-- name: forget_old
-- Delete keys of all users that are older than a day.
select forget_idempotent_answers(%(age)s);

-- name: begin
-- Take a key, unless it is taken.
insert into idempotent_answers as known (user_id, key, request_sha256)
values (%(user_id)s, %(key)s, %(request_sha256)s)
on conflict (user_id, key) do update
set request_sha256 = excluded.request_sha256, answer = null, created_at = now()
where known.created_at < now() - %(age)s;

-- name: forget_most
-- Delete the oldest keys of a user beyond a number.
delete from idempotent_answers where user_id = %(user_id)s and created_at <= (
  select created_at from idempotent_answers where user_id = %(user_id)s
  order by created_at desc offset %(most)s limit 1
);

-- name: find
-- The request of a key and its answer; null while it runs.
select request_sha256, answer from idempotent_answers
where user_id = %(user_id)s and key = %(key)s;

-- name: finish
-- Store the answer.
update idempotent_answers set answer = %(answer)s
where user_id = %(user_id)s and key = %(key)s and request_sha256 = %(request_sha256)s;
