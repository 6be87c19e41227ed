-- name: count_graphs
-- The knowledge bases of everybody.
select count(*) from sextant.graphs;

-- name: others
-- The processes of ours, beside this one, that have connections open (sextant/stores/postgresql/database.py names them).
select count(distinct application_name) from pg_stat_activity
where datname = current_database() and application_name like 'sextant%'
  and application_name <> current_setting('application_name');

-- name: make_room
-- All that a backup brings again. Waiting longer for running work would only hide that there is some.
set lock_timeout = '10s'; drop schema if exists sextant_queue cascade; drop schema if exists sextant cascade;

-- name: require_known
-- The last step of a restore, in its transaction; the settings are the versions of the schema that this Sextant
-- can open.
do $$
declare
  found int := (select max(version) from sextant.schema_migrations);
begin
  if found > current_setting('sextant.newest')::int then
    raise exception 'backup_is_newer';
  elsif found < current_setting('sextant.oldest')::int then
    raise exception 'backup_is_older';
  end if;
end $$;
