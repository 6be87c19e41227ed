-- name: applied
-- The library's migrations that were applied.
select name from sextant_queue.applied_migrations;

-- name: set_path
-- The library's files name no schema.
select set_config('search_path', 'sextant_queue, pg_temp', true);

-- name: grant
-- Grant the serving role access to the queue; its tables have no data of users but ids.
do $$ begin
  grant select, insert, update, delete on all tables in schema sextant_queue to sextant_app;
  revoke all on sextant_queue.applied_migrations from sextant_app;
  grant usage on all sequences in schema sextant_queue to sextant_app;
end $$;

-- name: record
-- Record the library's migrations as applied.
insert into sextant_queue.applied_migrations (name) select unnest(%(names)s::text[]);
