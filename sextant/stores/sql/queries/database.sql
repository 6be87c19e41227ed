-- name: set_tenant
-- Set the tenant of this transaction, with which row-level security compares every row.
select set_config('sextant.user_id', %(user_id)s, true);

-- name: set_reader
-- Set the tenant and the timeout of a statement that only reads.
select set_config('sextant.user_id', %(user_id)s, true),
  set_config('statement_timeout', %(timeout)s, true);

-- name: role_rights
-- The rights of the serving role; it must be neither superuser, nor bypass row-level security, nor own tables.
select current_user as role, rolsuper or rolbypassrls as unrestricted,
  exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'sextant' and c.relkind in ('r', 'p')
      and pg_has_role(current_user, c.relowner, 'member')) as owns_tables,
  (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'sextant' and c.relkind in ('r', 'p') and not c.relforcerowsecurity
      and c.relname not in ('schema_migrations', 'embedding_space')) as unprotected_tables,
  current_setting('server_version') as server_version,
  (select extversion from pg_extension where extname = 'vector') as vector_version
from pg_roles where rolname = current_user;

-- name: schema_version
-- The last migration that was applied.
select schema_version() as version;
