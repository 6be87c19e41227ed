-- name: count_graphs
-- The number of knowledge bases of all users.
select count(*) from sextant.graphs;

-- name: others
-- The number of other processes of Sextant with open connections, by their application names.
select count(distinct application_name) from pg_stat_activity
where datname = current_database() and application_name like 'sextant%'
  and application_name <> current_setting('application_name');

-- name: make_room
-- Drop what a backup restores. The short lock_timeout makes running work visible at once.
set lock_timeout = '10s'; drop schema if exists sextant_queue cascade; drop schema if exists sextant cascade;

-- name: require_known
-- The last step of a restore, in its transaction: check that this Sextant can open the restored version.
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
