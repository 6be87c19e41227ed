-- name: applied
-- Which of the library's migrations were applied.
select name from sextant_queue.applied_migrations;

-- name: set_path
-- The library's files name no schema.
select set_config('search_path', 'sextant_queue, pg_temp', true);

-- name: grant
-- The application hands out and takes turns; the tables have no tenant's data but the ids.
do $$ begin
  grant select, insert, update, delete on all tables in schema sextant_queue to sextant_app;
  revoke all on sextant_queue.applied_migrations from sextant_app;
  grant usage on all sequences in schema sextant_queue to sextant_app;
end $$;

-- name: record
-- They are applied.
insert into sextant_queue.applied_migrations (name) select unnest(%(names)s::text[]);
