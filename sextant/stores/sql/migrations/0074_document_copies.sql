-- Further names of a document: files of the same bytes. The oldest takes the document over when the file
-- that named it changes or goes. A name is that of one document or of one copy, never of both.
create table document_copies (
  scope_id int not null references graphs on delete cascade,
  source text not null,
  user_id text not null,
  document_id uuid not null references documents on delete cascade,
  filename text not null,
  external_id text,
  created_at timestamptz not null default clock_timestamp(),
  primary key (scope_id, source)
);
create index on document_copies (document_id);
select tenant_table('document_copies');
grant select, insert, update, delete on document_copies to sextant_app;

create or replace view described_documents with (security_invoker) as
select d.scope_id, g.user_id, g.graph_id, d.id, d.source, v.filename, v.title, v.media_type, v.sha256,
  v.size_bytes, d.status, v.language, v.page_count, d.chunk_count, v.external_id, v.metadata,
  d.created_at, d.updated_at,
  (select j.error from ingestion_jobs j
    where j.document_id = d.id and j.stage = 'failed' and d.status = 'failed'
    order by j.updated_at desc limit 1) as error,
  array(select c.source from document_copies c
    where c.scope_id = d.scope_id and c.document_id = d.id order by c.created_at, c.source) as copies
from documents d join graphs g on g.scope_id = d.scope_id
join document_versions v on v.document_id = d.id
  and v.version = coalesce(d.live_version, d.pending_version);
