-- Extraction by a chat model, and which names are one thing.

-- What became of a passage that a chat model was to read; one without a row waits. A row is written in
-- the transaction that stores what the model found, so 'done' means that it is in the graph.
create table extractions (
  scope_id int not null,
  chunk_id uuid not null,
  document_id uuid not null,
  user_id text not null,
  state text not null check (state in ('done', 'failed')),
  attempts int not null,
  error_code text,
  error text,
  input_tokens bigint not null,
  output_tokens bigint not null,
  prompt_version int not null,
  updated_at timestamptz not null default now(),
  primary key (scope_id, chunk_id)
);
create index on extractions (scope_id, document_id);

-- automatic: decided by comparing names, and decided again when the names change; the user's own
-- decisions are never touched.
alter table entity_merges add column automatic boolean not null default false;

-- Names that may be one thing, smaller id first. verdict: 'same' merges by itself (unless an
-- abbreviation has several meanings), 'open' is for the user or a chat model to decide, 'different'
-- is what the chat model said.
create table entity_pairs (
  scope_id int not null,
  one_id uuid not null,
  other_id uuid not null check (other_id > one_id),
  user_id text not null,
  verdict text not null check (verdict in ('same', 'open', 'different')),
  reason text not null,
  score float8 not null,
  primary key (scope_id, one_id, other_id)
);
create index on entity_pairs (scope_id, other_id);

-- The user has said that these are two: nothing merges them again by itself.
create table entity_distinctions (
  scope_id int not null,
  one_id uuid not null,
  other_id uuid not null check (other_id > one_id),
  user_id text not null,
  created_at timestamptz not null default now(),
  primary key (scope_id, one_id, other_id)
);

-- Which names have been compared with all others, as they were then.
create table compared_names (
  scope_id int not null,
  entity_id uuid not null,
  user_id text not null,
  hash bigint not null,
  primary key (scope_id, entity_id)
);

-- The version of the graph whose names are compared.
alter table graph_versions add column compared_version bigint;

-- Texts that define an abbreviation.
create index on relation_evidence (scope_id, source_id, target_id) where relation_type = 'ABBREVIATES';

do $$
declare one text;
begin
  foreach one in array array['extractions', 'entity_pairs', 'entity_distinctions', 'compared_names']
  loop
    perform tenant_table(one::regclass);
    execute format('grant select, insert, update, delete on %I to sextant_app', one);
  end loop;
end $$;
