-- Functions that run as the owner believe no argument about who asks: the tenant is the session's. Before,
-- nearest_chunks (0072), held_chunks (0068), fill_blocks (0069), claim_job (0076) and job_backlog (0020) took the
-- rows of whomever the caller named.

-- The tenant of the session, which a function that runs as the owner compares with who is named to it. Without
-- one it fails: an empty answer would look like an empty knowledge base.
create function own_tenant() returns text language plpgsql stable as $$
declare
  tenant text := nullif(current_setting('sextant.user_id', true), '');
begin
  if tenant is null then
    raise exception 'no tenant is set' using errcode = 'insufficient_privilege',
      hint = 'set_config(''sextant.user_id'', …, true) in the same statement or transaction';
  end if;
  return tenant;
end $$;
revoke execute on function own_tenant() from public;
grant execute on function own_tenant() to sextant_app;

-- For functions under row-level security that are told whose rows are meant: they name the tenant where there is
-- none yet, and never take another's place.
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

-- Those bodies stay as they are but for one place each.
create function pg_temp.mend(changed regprocedure, old text, new text) returns void language plpgsql as $$
declare
  body text := pg_get_functiondef(changed);
begin
  if strpos(body, old) = 0 then
    raise exception '% does not read as expected', changed;
  end if;
  execute replace(body, old, new);
end $$;
select pg_temp.mend('nearest_chunks(text, text, vector, int, int)',
  'where user_id = of_user and', 'where of_user = own_tenant() and user_id = of_user and');
select pg_temp.mend('held_chunks(text, text, text[], text[], int[], text[], int, int)',
  'where user_id = of_user and', 'where of_user = own_tenant() and user_id = of_user and');
select pg_temp.mend(told, 'perform set_config(''sextant.user_id'', of_user, true);', 'perform bind_tenant(of_user);')
from unnest(array['told_chunks(text, text, bytea, int)', 'told_entities(text, text, uuid[])',
  'scope_stamp(text, text)', 'chunk_stamp(text, text)']::regprocedure[]) as told;
drop function pg_temp.mend(regprocedure, text, text);

create or replace function fill_blocks(of_scope int) returns void
language plpgsql security definer
set search_path from current
as $$
declare
  size int := vectors_per_block();
begin
  if exists (select from graphs where scope_id = of_scope and user_id = own_tenant())
      and (select count(*) from vector_blocks where scope_id = of_scope and cardinality(ids) < size) >= 20 then
    perform renew_blocks(of_scope, '{}');
  end if;
end $$;

-- Nobody takes jobs of all tenants at once, so row-level security decides.
create or replace function claim_job(
  claimer text, stale_after interval, only_job uuid, only_user text)
returns setof ingestion_jobs language sql security invoker
set search_path from current
as $$
  update ingestion_jobs set worker = claimer, attempts = attempts + 1, heartbeat_at = now(),
    updated_at = now(), error_code = null, error = null, not_before = null, stage = 'parse'
  where id = (
    select id from ingestion_jobs
    where stage not in ('done', 'failed') and user_id = only_user
      and (only_job is null or id = only_job)
      and (worker is null or heartbeat_at < now() - stale_after)
      and (only_job is not null or not_before is null or not_before <= now())
    order by urgent desc, created_at limit 1 for update skip locked
  )
  returning *;
$$;

-- Of everybody where no tenant is set and none is named (who sweeps); else of the session's tenant alone.
create or replace function job_backlog(stale_after interval, only_user text)
returns table (user_id text, waiting int, urgent int, running int) language sql stable
security definer
set search_path from current
as $$
  select user_id,
    count(*) filter (where free and due)::int,
    count(*) filter (where free and due and urgent)::int,
    count(*) filter (where not free)::int
  from (
    select user_id, urgent, worker is null or heartbeat_at < now() - stale_after as free,
      not_before is null or not_before <= now() as due
    from ingestion_jobs
    where stage not in ('done', 'failed') and (only_user is null or user_id = only_user) and case
      when nullif(current_setting('sextant.user_id', true), '') is null then only_user is null
      else user_id = current_setting('sextant.user_id') end
  ) open_jobs
  group by user_id
$$;
