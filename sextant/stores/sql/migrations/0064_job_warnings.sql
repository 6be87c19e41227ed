-- What of a document was not taken in though its ingestion is done, such as images that nobody looked at:
-- sentences, in order. Who uploads over HTTP learns it from the job; of older jobs nobody noted any.
alter table ingestion_jobs add column warnings jsonb not null default '[]';
