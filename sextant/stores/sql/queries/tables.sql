-- name: parts
-- The table passages in the section of a chunk, in reading order, if its document is stored completely.
select n.id::text as id, n.ordinal, n.start_offset as start, n.text, n.context, n.page
from chunks c
join documents d on d.id = c.document_id and d.live_version is not null
join chunks n on n.scope_id = c.scope_id and n.document_id = c.document_id
  and n.section_id = c.section_id and n.modality in ('table', 'scanned_table')
where c.scope_id = %(scope_id)s and c.id = %(id)s
order by n.ordinal limit %(most)s;
