-- What chunks say about themselves, filters over it, and a log of searches.

-- Who described a chunk: '' nobody (it was stored before there were descriptions), 'extract' the
-- offline extraction, 'llm' a chat model. Rows that are there get '', new ones are described when they
-- come. describe_tries counts what a chat model was asked in vain.
alter table chunks add column described_by text not null default '';
alter table chunks alter column described_by set default 'extract';
alter table chunks add column describe_tries int not null default 0;
create index chunks_to_describe on chunks (scope_id, document_id) where described_by = '';

-- A filter by section walks down the tree from it.
create index on sections (scope_id, id);

-- Whether a path of titles begins with others; patterns are regular expressions, one a title.
create function path_begins(path text[], patterns text[]) returns boolean
language sql immutable parallel safe as $$
  select cardinality(path) >= cardinality(patterns) and not exists (
    select from unnest(patterns) with ordinality as wanted(pattern, place)
    where path[place] !~* pattern)
$$;

-- Searches with what they returned, for those who asked for the log; no text of documents.
create table search_log (
  id bigint generated always as identity primary key,
  scope_id int not null,
  user_id text not null,
  at timestamptz not null default now(),
  query text not null,
  request jsonb not null,
  results jsonb not null,
  warnings text[] not null,
  milliseconds float8 not null
);
create index on search_log (scope_id, at);
select tenant_table('search_log');
grant select, insert, delete on search_log to sextant_app;
