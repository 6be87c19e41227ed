-- API keys: their users and permissions; of the secret only the SHA-256 is stored.
--
-- A key identifies the tenant, so it is looked up before a tenant is set. The application has no right on the table: it
-- may only look up the key of one hash. The owner makes and lists keys, on the machine (`sextant keys`).
create table api_keys (
  id text primary key,
  user_id text not null check (length(user_id) between 1 and 200),
  name text not null,
  sha256 bytea not null unique check (octet_length(sha256) = 32),
  permissions text[] not null check (permissions <@ array['read', 'ingest', 'admin']),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index on api_keys (user_id, created_at);
select tenant_table('api_keys');
create policy owner_keeps on api_keys to current_user using (true) with check (true);

-- The key that a hash opens, unless it is revoked or expired. When it was last used is written once a minute, so
-- that a busy key does not cost a write for each request; a locked row is left for the next time.
create function use_api_key(digest bytea)
returns table (id text, user_id text, permissions text[], expires_at timestamptz)
language plpgsql security definer
set search_path from current
as $$
declare used api_keys;
begin
  select * into used from api_keys k where k.sha256 = digest and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > now());
  if used.id is null then
    return;
  end if;
  if coalesce(used.last_used_at, '-infinity') < now() - interval '1 minute' then
    update api_keys k set last_used_at = now() where k.id in (
      select idle.id from api_keys idle where idle.id = used.id for update skip locked);
  end if;
  return query select used.id, used.user_id, used.permissions, used.expires_at;
end $$;
revoke execute on function use_api_key(bytea) from public;
grant execute on function use_api_key(bytea) to sextant_app;

-- Whether a key was ever made: from then on requests without a key are refused.
create function api_keys_exist() returns boolean
language sql stable security definer
set search_path from current
as $$ select exists (select from api_keys) $$;
revoke execute on function api_keys_exist() from public;
grant execute on function api_keys_exist() to sextant_app;
