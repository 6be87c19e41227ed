-- name: states
-- Documents of a user, each with its newest job. A document is unattended if it waits, no worker lives, and no job
-- of the user runs, as by `sextant ingest`.
select d.id as document_id, g.graph_id, v.filename, d.status, d.chunk_count,
  j.id as job_id, j.stage, j.done, j.total, j.attempts, j.error_code, j.error, j.not_before,
  coalesce(j.warnings, '[]') as warnings,
  coalesce(j.stage = 'queued', false) and not exists (
    select from sextant_queue.procrastinate_workers where last_heartbeat between now() - interval '1 minute' and now() + interval '1 minute'
  ) and not exists (
    select from ingestion_jobs o where o.user_id = d.user_id and o.stage not in ('done', 'failed')
      and o.worker is not null and o.heartbeat_at > now() - interval '1 minute'
  ) as unattended
from documents d join graphs g using (scope_id)
join document_versions v on v.document_id = d.id
  and v.version = coalesce(d.pending_version, d.live_version)
left join lateral (
  select * from ingestion_jobs o where o.document_id = d.id
  order by o.stage in ('done', 'failed'), o.version desc, o.created_at desc limit 1
) j on true
where d.user_id = %(user_id)s and d.id = any(%(document_ids)s);

-- name: cancel
-- Close a document's open job, so that its worker stops; no row if there is none.
update ingestion_jobs set stage = 'failed', worker = null, updated_at = now(),
  error_code = 'cancelled', error = 'The ingestion was cancelled.'
where user_id = %(user_id)s and document_id = %(document_id)s and stage not in ('done', 'failed')
returning id;
