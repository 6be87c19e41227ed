-- Where the words of a document's text stand on the pages of its file (sextant/domain/page_boxes.py).
alter table document_versions add column boxes bytea;
alter table document_versions alter column boxes set storage external;
