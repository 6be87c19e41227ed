-- What the planner knows about tables that are filled in a minute, before autovacuum has looked at them.
--
-- Row-level security asks for rows of one user. Of a table it has no statistics of the planner takes
-- them for one in two hundred, thinks it cheap to go through all of them, and so a batch that touches a
-- hundred rows read every row of its graph: 280 ms a document at 400 passages, and growing.

-- Looks anew at every table that has doubled since somebody looked, at the columns that rows are found
-- by (a look at texts and vectors would cost more). So each row is paid for a few times, however many
-- knowledge bases there are.
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
