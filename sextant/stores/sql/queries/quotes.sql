-- name: still_there
-- Whether the live version of each quote's document has these characters at the offset (from 0).
select coalesce(substr(v.text, q.start_offset + 1, length(q.quote)) = q.quote, false) as holds
from unnest(%(ids)s::uuid[], %(starts)s::int[], %(quotes)s::text[])
  with ordinality as q(document_id, start_offset, quote, place)
left join documents d on d.id = q.document_id and d.scope_id = %(scope_id)s
left join document_versions v
  on v.document_id = d.id and v.version = coalesce(d.live_version, d.pending_version)
order by q.place;
