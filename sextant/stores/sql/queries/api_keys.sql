-- name: use
-- The valid key with this hash, for the serving role.
select id, user_id, permissions, expires_at from use_api_key(%(digest)s);

-- name: exist
-- Whether a key was ever created, for the serving role.
select api_keys_exist() as found;

-- name: create
-- Create a key, as the owner.
insert into api_keys (id, user_id, name, sha256, permissions, expires_at)
values (%(id)s, %(user_id)s, %(name)s, %(digest)s, %(permissions)s, %(expires_at)s)
returning id, user_id, name, permissions, created_at, expires_at, revoked_at, last_used_at;

-- name: list
-- The keys of a user, or of all users, newest first, as the owner.
select id, user_id, name, permissions, created_at, expires_at, revoked_at, last_used_at
from api_keys where %(user_id)s::text is null or user_id = %(user_id)s
order by created_at desc, id;

-- name: end
-- Let a key expire at a time, unless it has expired before, as the owner.
update api_keys set
  revoked_at = case when %(grace)s::interval = '0' then coalesce(revoked_at, now()) else revoked_at end,
  expires_at = least(expires_at, now() + %(grace)s)
where id = %(id)s
returning id, user_id, name, permissions, created_at, expires_at, revoked_at, last_used_at;
