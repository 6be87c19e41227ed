-- Tenants: row-level security of every table, and the tenant of a session.
--
-- Every tenant's table has user_id (whose row it is) and, where the row belongs to a knowledge base, scope_id
-- (which one). The application connects as sextant_app, which owns nothing, so the policies bind it; it sets
-- sextant.user_id for each transaction. Functions that run as the owner (security definer) bypass the policies, and
-- therefore compare the tenant themselves. They are needed for two reasons: a policy keeps the planner from using a
-- GIN or HNSW index, because operators of arrays and vectors are not leakproof (PostgreSQL manual, "Row Security
-- Policies"); and sweeping and counting concern all tenants at once.

-- Secures a table. The owner is bound, too (force), except where a further policy of the table allows more.
-- The scalar sub-select makes the planner evaluate the setting once per query, not once per row.
create function tenant_table(tenant_table regclass) returns void language plpgsql as $$
begin
  execute format('alter table %s enable row level security', tenant_table);
  execute format('alter table %s force row level security', tenant_table);
  execute format(
    'create policy tenant on %s using '
    '(user_id = (select nullif(current_setting(''sextant.user_id'', true), '''')))', tenant_table);
end $$;
revoke execute on function tenant_table(regclass) from public;

-- The tenant of the session, which a function that runs as the owner compares with the tenant it is given.
-- Without one it fails: an empty answer would look like an empty knowledge base.
create function current_tenant() returns text language plpgsql stable as $$
declare
  tenant text := nullif(current_setting('sextant.user_id', true), '');
begin
  if tenant is null then
    raise exception 'no tenant is set' using errcode = 'insufficient_privilege',
      hint = 'set_config(''sextant.user_id'', …, true) in the same statement or transaction';
  end if;
  return tenant;
end $$;
revoke execute on function current_tenant() from public;
grant execute on function current_tenant() to sextant_app;

-- For functions under row-level security that are given a tenant: sets it where the session has none yet, and
-- refuses to replace another.
create function bind_tenant(of_user text) returns void language plpgsql volatile as $$
begin
  if nullif(current_setting('sextant.user_id', true), '') is null then
    perform set_config('sextant.user_id', of_user, true);
  elsif of_user <> current_setting('sextant.user_id') then
    raise exception 'the session serves another tenant' using errcode = 'insufficient_privilege';
  end if;
end $$;
revoke execute on function bind_tenant(text) from public;
grant execute on function bind_tenant(text) to sextant_app;
