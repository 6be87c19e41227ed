-- name: forget_old
-- A key is good for a day; those of every user go, whoever comes.
select forget_idempotent_answers(%(age)s);

-- name: begin
-- The first to come with a key owns it, for a day.
insert into idempotent_answers as known (user_id, key, request_sha256)
values (%(user_id)s, %(key)s, %(request_sha256)s)
on conflict (user_id, key) do update
set request_sha256 = excluded.request_sha256, answer = null, created_at = now()
where known.created_at < now() - %(age)s;

-- name: forget_most
-- Only so many of a user are kept, the newest.
delete from idempotent_answers where user_id = %(user_id)s and created_at <= (
  select created_at from idempotent_answers where user_id = %(user_id)s
  order by created_at desc offset %(most)s limit 1
);

-- name: find
-- What the key was first sent with, and what that was answered; null while it is under way.
select request_sha256, answer from idempotent_answers
where user_id = %(user_id)s and key = %(key)s;

-- name: finish
-- The answer, for whoever asks again.
update idempotent_answers set answer = %(answer)s
where user_id = %(user_id)s and key = %(key)s and request_sha256 = %(request_sha256)s;
