-- name: undescribed
-- Documents with chunks that nobody has described, the oldest first. The ingestion of a new one describes its own,
-- from all of it.
select d.id from documents d
where d.scope_id = %(scope_id)s and d.live_version is not null and exists (
  select from chunks c where c.scope_id = d.scope_id and c.document_id = d.id
    and c.described_by = '')
order by d.created_at, d.id;

-- name: chunks
-- The chunks of a document in their order.
select c.*, v.language, v.metadata
from found_chunks c join documents d on d.id = c.document_id
join document_versions v on v.document_id = d.id
  and v.version = coalesce(d.live_version, d.pending_version)
where c.scope_id = %(scope_id)s and c.document_id = %(document_id)s order by c.ordinal;

-- name: lock
-- The document, before anything of it is written, as whoever deletes or replaces it locks it.
select from documents where scope_id = %(scope_id)s and id = %(document_id)s for no key update;

-- name: describe_chunk
-- What a chunk is about, of one that nobody has described.
update chunks set summary = %(summary)s, tags = %(tags)s, topics = %(topics)s,
  keywords = %(keywords)s, entities = %(entities)s, topic_labels = %(topic_labels)s,
  neighbours = %(neighbours)s, described_by = 'extract'
where scope_id = %(scope_id)s and id = %(id)s and described_by = '';

-- name: describe_section
-- What a section of the live version is about, where that is not said.
update sections s set summary = %(summary)s, tags = %(tags)s, keywords = %(keywords)s
from documents d
where d.id = s.document_id and s.version = coalesce(d.live_version, d.pending_version)
  and s.scope_id = %(scope_id)s and s.document_id = %(document_id)s and s.id = %(id)s
  and s.summary = '';
