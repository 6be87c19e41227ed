-- name: create_scope
-- Create a knowledge base.
insert into graphs (user_id, graph_id) values (%(user_id)s, %(graph_id)s) on conflict do nothing;

-- name: find_scope
-- The number of a knowledge base, and the partition of its vectors.
select scope_id, partition_key from graphs
where user_id = %(user_id)s and graph_id = %(graph_id)s;

-- name: scope_id
-- The number alone, as a part of other queries.
select scope_id from graphs where user_id = %(user_id)s and graph_id = %(graph_id)s

-- name: share_scope
-- The row for a writer: until the transaction ends, the partition does not change and nobody registers documents.
-- Writers of several documents or jobs take this lock first.
select scope_id, partition_key from graphs
where user_id = %(user_id)s and graph_id = %(graph_id)s for share;

-- name: hold_scope
-- The row for a writer of the graph: it is not deleted until the transaction ends. Writers of rows that refer to it
-- take this lock first, since a late one could deadlock with a deletion.
select scope_id, partition_key from graphs
where user_id = %(user_id)s and graph_id = %(graph_id)s for key share;

-- name: lock_scope
-- The row for registering documents, so that equal files are recognised, and for deleting them with their
-- attachments: one transaction at a time.
select scope_id, partition_key from graphs
where user_id = %(user_id)s and graph_id = %(graph_id)s for no key update;

-- name: doom_scope
-- The row for deleting the knowledge base: all writers are locked out.
select scope_id, partition_key from graphs
where user_id = %(user_id)s and graph_id = %(graph_id)s for update;

-- name: graphs
-- The knowledge bases of a user, with their documents, those of them that cannot be searched yet, whether an update
-- of the graph is queued (`sextant.stores.queue`) or no worker lives for it, and the warnings of the last update.
select g.graph_id, count(d.id) filter (where d.status <> 'failed')::int as documents,
  count(d.id) filter (where d.status in ('pending', 'ingesting'))::int as under_way,
  coalesce(sum(d.chunk_count), 0)::int as chunks, g.created_at,
  turn.pending, turn.pending and not exists (
    select from sextant_queue.procrastinate_workers where last_heartbeat between now() - interval '1 minute' and now() + interval '1 minute'
  ) as unattended,
  coalesce(u.warnings, '[]') as warnings
from graphs g left join documents d on d.scope_id = g.scope_id
left join graph_warnings u on u.scope_id = g.scope_id
cross join lateral (select exists (select from sextant_queue.procrastinate_jobs q
  where q.lock = 'refresh/' || g.graph_id || '/' || g.user_id and q.status in ('todo', 'doing')
) as pending) as turn
where g.user_id = %(user_id)s group by g.scope_id, u.scope_id, turn.pending order by g.graph_id;

-- name: has_passages
-- Whether a knowledge base has a passage.
select exists (select from chunks where scope_id = %(scope_id)s);

-- name: note_upkeep
-- Store the warnings of a graph's update, unless the knowledge base is being deleted.
insert into graph_warnings (scope_id, user_id, warnings)
select scope_id, user_id, %(warnings)s from graphs
where user_id = %(user_id)s and graph_id = %(graph_id)s for key share
on conflict (scope_id) do update set warnings = excluded.warnings
where graph_warnings.warnings is distinct from excluded.warnings;

-- name: doom
-- Name the knowledge base that the next statement deletes; the settings end with the transaction.
select set_config('sextant.doomed_scope', %(scope_id)s, true),
  set_config('sextant.locked_graph', %(scope_id)s, true);

-- name: delete_doomed
-- Delete all rows of one knowledge base in all tables, graphs last, since others refer to it. Row-level security
-- restricts it to the tenant.
do $$
declare one regclass; doomed int := current_setting('sextant.doomed_scope')::int;
begin
  for one in
    select c.oid::regclass from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'scope_id' and not a.attisdropped
    where c.relnamespace = 'sextant'::regnamespace and c.relkind in ('r', 'p')
      and not c.relispartition
    order by c.relname = 'graphs', c.oid
  loop
    execute format('delete from %s where scope_id = $1', one) using doomed;
  end loop;
end $$;
