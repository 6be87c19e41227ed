-- name: lock
-- One process migrates; the others try again.
select pg_try_advisory_lock(%(key)s);

-- name: unlock
-- Let the next process look.
select pg_advisory_unlock(%(key)s);

-- name: encoding
-- How the database writes text.
select pg_encoding_to_char(encoding) from pg_database where datname = current_database();

-- name: has_history
-- Whether the database was ever given a schema.
select to_regclass('sextant.schema_migrations') is not null;

-- name: version
-- The version of the schema, and the digest of the files that gave it.
select version, sha256 from sextant.schema_migrations order by version desc limit 1;

-- name: create_role
-- The role that serves: it owns nothing, so row-level security holds for it. Roles belong to the
-- whole server, so another database's migration may make it at the same moment.
do $$ begin
  if not exists (select from pg_roles where rolname = 'sextant_app') then
    create role sextant_app login;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;

-- name: join_role
-- Let the owner's login act as the serving role. Whoever creates a role may grant it, to itself too;
-- where an administrator made it, the administrator has granted it.
do $$ begin
  if not (select rolsuper from pg_roles where rolname = current_user) then
    grant sextant_app to current_user;
  end if;
exception when insufficient_privilege then null;
end $$;

-- name: create_schema
-- Our tables live in a schema of their own, beside whatever else the database holds.
do $$ begin
  create schema if not exists sextant;
  grant usage on schema sextant to sextant_app;
end $$;

-- name: create_extension
-- pgvector, unless an administrator has installed it.
do $$ begin
  if not exists (select from pg_extension where extname = 'vector') then
    create extension vector schema public;
  end if;
end $$;

-- name: create_history
-- Which versions of the schema the database has had; sha256: of the files of sql/schema at that time.
create table if not exists sextant.schema_migrations (
  version int primary key, name text not null, sha256 text not null,
  applied_at timestamptz not null default now()
);

-- name: set_path
-- Names without a schema mean ours, for this transaction.
select set_config('search_path', %(path)s, true);

-- name: record
-- Remember a version that the database has now.
insert into sextant.schema_migrations (version, name, sha256)
values (%(version)s, %(name)s, %(sha256)s);
