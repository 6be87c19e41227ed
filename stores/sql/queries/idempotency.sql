-- name: forget_old
-- A key is good for a day.
delete from idempotent_answers where user_id = %(user_id)s and created_at < now() - %(age)s;

-- name: begin
-- The first to come with a key owns it.
insert into idempotent_answers (user_id, key, request_sha256)
values (%(user_id)s, %(key)s, %(request_sha256)s) on conflict do nothing;

-- name: find
-- What the key was first sent with, and what that was answered; null while it is under way.
select request_sha256, answer from idempotent_answers
where user_id = %(user_id)s and key = %(key)s;

-- name: finish
-- The answer, for whoever asks again.
update idempotent_answers set answer = %(answer)s
where user_id = %(user_id)s and key = %(key)s and request_sha256 = %(request_sha256)s;
