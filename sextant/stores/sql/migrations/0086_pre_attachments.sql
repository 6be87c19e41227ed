-- What is attached to an e-mail is a document of its own, which goes with the e-mail.
alter table documents add column parent_id uuid references documents on delete set null;
create index on documents (parent_id) where parent_id is not null;
alter table document_copies add column parent_id uuid references documents on delete cascade;
create index on document_copies (parent_id) where parent_id is not null;
create or replace view described_documents with (security_invoker) as
select d.scope_id, g.user_id, g.graph_id, d.id, d.source, v.filename, v.title, v.media_type, v.sha256,
  v.size_bytes, d.status, v.language, v.page_count, d.chunk_count, v.external_id, v.metadata,
  d.created_at, d.updated_at,
  (select j.error from ingestion_jobs j
    where j.document_id = d.id and j.stage = 'failed' and d.status = 'failed'
    order by j.updated_at desc limit 1) as error,
  array(select c.source from document_copies c
    where c.scope_id = d.scope_id and c.document_id = d.id order by c.created_at, c.source) as copies,
  v.coverage, d.parent_id
from documents d join graphs g on g.scope_id = d.scope_id
join document_versions v on v.document_id = d.id
  and v.version = coalesce(d.live_version, d.pending_version);
grant select on described_documents to sextant_app;
