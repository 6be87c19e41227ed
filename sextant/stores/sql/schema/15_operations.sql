-- What a running server asks about the database, and tells the planner.

-- Which schema the database has.
create function schema_version() returns int language sql stable security definer
set search_path from current
as $$ select max(version) from schema_migrations $$;
revoke execute on function schema_version() from public;
grant execute on function schema_version() to sextant_app;

-- Analyzes every table that has doubled since it was last analyzed, by the columns that rows are found by (texts and
-- vectors would cost more), so each row is paid for a few times.
--
-- Tables are filled in a minute, before autovacuum has analyzed them. Of a table without statistics the planner
-- takes a tenant's rows for one in two hundred and thinks it cheap to read all of them: a batch that touches a
-- hundred rows then reads every row of its graph.
create function refresh_statistics() returns void language plpgsql security definer
set search_path from current
as $$
declare grown record;
begin
  for grown in
    select c.oid::regclass as name, string_agg(quote_ident(a.attname), ', ') as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
    where c.relnamespace = (select relnamespace from pg_class where oid = 'chunks'::regclass)
      and c.relkind = 'r'
      and pg_relation_size(c.oid) > (2 * c.relpages + 8) * current_setting('block_size')::int
      and (a.attname = 'user_id' or exists (
        select from pg_index i join pg_class k on k.oid = i.indexrelid
        join pg_am m on m.oid = k.relam and m.amname = 'btree'
        where i.indrelid = c.oid and a.attnum = any (i.indkey)))
    group by c.oid order by c.oid
  loop
    execute format('analyze %s (%s)', grown.name, grown.columns);
  end loop;
end $$;
revoke execute on function refresh_statistics() from public;
grant execute on function refresh_statistics() to sextant_app;
