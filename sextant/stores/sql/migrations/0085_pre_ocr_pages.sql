-- What OCR read on the pages of a document's file, and in the pictures inside of it (page 1), by the content's sha256:
-- a job that is resumed reads no page twice. An error: why a page could not be read, which stays so for that job.
create table ocr_pages (
  document_id uuid not null references documents on delete cascade,
  user_id text not null,
  sha256 text not null,
  page int not null,
  engine text not null,
  confidence real,
  lines jsonb,
  error text,
  primary key (document_id, sha256, page, engine)
);
select tenant_table('ocr_pages');
grant select, insert, update, delete on ocr_pages to sextant_app;
