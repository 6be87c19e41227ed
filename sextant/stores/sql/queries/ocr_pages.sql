-- name: known
-- The results of a document's pages and pictures.
select sha256, page, lines, error from ocr_pages
where document_id = %(document_id)s and user_id = %(user_id)s and engine = %(engine)s and sha256 = any(%(files)s);

-- name: keep
-- Store the result of a page.
insert into ocr_pages (document_id, user_id, sha256, page, engine, confidence, lines, error)
select d.id, d.user_id, %(sha256)s, %(page)s, %(engine)s, %(confidence)s, %(lines)s, %(error)s
from documents d where d.id = %(document_id)s and d.user_id = %(user_id)s
on conflict (document_id, sha256, page, engine) do update
set confidence = excluded.confidence, lines = excluded.lines, error = excluded.error;

-- name: forget
-- Delete results of contents that the document no longer has, or of another engine.
delete from ocr_pages where document_id = %(document_id)s and user_id = %(user_id)s
  and (engine <> %(engine)s or not sha256 = any(%(files)s));
