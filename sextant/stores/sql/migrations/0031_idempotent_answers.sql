-- The newest keys of a user are found by time.
create index on idempotent_answers (user_id, created_at);

-- Forgets keys of all tenants, also of those that never come again; a bounded number at a time, and
-- none that somebody else is at, so that requests neither wait nor deadlock for it.
create function forget_idempotent_answers(age interval) returns void language sql security definer
set search_path from current
as $$
  delete from idempotent_answers where (user_id, key) in (
    select user_id, key from idempotent_answers where created_at < now() - age
    limit 1000 for update skip locked
  )
$$;
revoke execute on function forget_idempotent_answers(interval) from public;
grant execute on function forget_idempotent_answers(interval) to sextant_app;
