-- name: lock
-- Let one process migrate at a time; others try again.
select pg_try_advisory_lock(%(key)s);

-- name: unlock
-- Release the lock.
select pg_advisory_unlock(%(key)s);

-- name: encoding
-- The encoding of the database.
select pg_encoding_to_char(encoding) from pg_database where datname = current_database();

-- name: has_history
-- Whether the database has a schema.
select to_regclass('sextant.schema_migrations') is not null;

-- name: version
-- The version of the schema, and the digest of its files.
select version, sha256 from sextant.schema_migrations order by version desc limit 1;

-- name: create_role
-- Create the serving role. It owns nothing, so row-level security holds for it. Roles belong to the whole server,
-- so a migration of another database may create it at the same moment.
do $$ begin
  if not exists (select from pg_roles where rolname = 'sextant_app') then
    create role sextant_app login;
  end if;
exception when duplicate_object or unique_violation then null;
end $$;

-- name: join_role
-- Let the owner's login act as the serving role. Whoever creates a role may grant it, also to itself; otherwise the
-- administrator who created it has granted it.
do $$ begin
  if not (select rolsuper from pg_roles where rolname = current_user) then
    grant sextant_app to current_user;
  end if;
exception when insufficient_privilege then null;
end $$;

-- name: create_schema
-- Create a schema for our tables, beside whatever else the database holds.
do $$ begin
  create schema if not exists sextant;
  grant usage on schema sextant to sextant_app;
end $$;

-- name: create_extension
-- Create pgvector, unless an administrator has.
do $$ begin
  if not exists (select from pg_extension where extname = 'vector') then
    create extension vector schema public;
  end if;
end $$;

-- name: create_history
-- Create the table of the schema's versions; sha256: the digest of the files of sql/schema at that time.
create table if not exists sextant.schema_migrations (
  version int primary key, name text not null, sha256 text not null,
  applied_at timestamptz not null default now()
);

-- name: set_path
-- Set the search path of this transaction.
select set_config('search_path', %(path)s, true);

-- name: record
-- Record the version of the database.
insert into sextant.schema_migrations (version, name, sha256)
values (%(version)s, %(name)s, %(sha256)s);
