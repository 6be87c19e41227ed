-- name: create_scope
-- A knowledge base comes into being with its first document.
insert into graphs (user_id, graph_id) values (%(user_id)s, %(graph_id)s) on conflict do nothing;

-- name: find_scope
-- The number of a knowledge base, and which partition its vectors lie in.
select scope_id, partition_key from graphs
where user_id = %(user_id)s and graph_id = %(graph_id)s;

-- name: scope_id
-- The number alone, as a part of other queries.
select scope_id from graphs where user_id = %(user_id)s and graph_id = %(graph_id)s

-- name: share_scope
-- The same for a writer: its vectors' partition may not change, nor may others register in it, until this
-- transaction ends. Whoever writes to several of its documents or jobs has this lock first.
select scope_id, partition_key from graphs
where user_id = %(user_id)s and graph_id = %(graph_id)s for share;

-- name: hold_scope
-- The same for a writer of its graph: it is there until this transaction ends. Whoever writes rows
-- that refer to it has this lock first; taken late, it met that of a deletion crosswise.
select scope_id, partition_key from graphs
where user_id = %(user_id)s and graph_id = %(graph_id)s for key share;

-- name: lock_scope
-- The same for registering: one at a time in a knowledge base, so equal files meet.
select scope_id, partition_key from graphs
where user_id = %(user_id)s and graph_id = %(graph_id)s for no key update;

-- name: doom_scope
-- The same for deleting it, with every other writer kept out.
select scope_id, partition_key from graphs
where user_id = %(user_id)s and graph_id = %(graph_id)s for update;

-- name: graphs
-- The knowledge bases of a user, with the documents that are in, or on their way in; whether a worker has
-- a turn to bring the graph up to date (`sextant.stores.work.queue`) or none lives that could take it, and what the
-- last one could not do.
select g.graph_id, count(d.id) filter (where d.status <> 'failed')::int as documents,
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
-- Whether a knowledge base has any passage.
select exists (select from chunks where scope_id = %(scope_id)s);

-- name: note_upkeep
-- What of a graph did not follow this time; of one that is being deleted nothing.
insert into graph_warnings (scope_id, user_id, warnings)
select scope_id, user_id, %(warnings)s from graphs
where user_id = %(user_id)s and graph_id = %(graph_id)s for key share
on conflict (scope_id) do update set warnings = excluded.warnings
where graph_warnings.warnings is distinct from excluded.warnings;

-- name: doom
-- Which knowledge base the next statement deletes; the settings end with the transaction.
select set_config('sextant.doomed_scope', %(scope_id)s, true),
  set_config('sextant.locked_graph', %(scope_id)s, true);

-- name: delete_doomed
-- Every row of one knowledge base, in whatever tables the schema has; graphs last, which its
-- children refer to. Row-level security keeps it to the tenant's own.
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
