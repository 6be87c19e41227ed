-- How far the communities of a graph are, and who wrote their reports.

-- version: of the graph that the communities have taken in. edges, modularity: what the last full run
-- found; a later one is due by comparison.
create table graph_upkeep (
  scope_id int primary key references graphs on delete cascade,
  user_id text not null,
  version bigint not null,
  edges bigint not null,
  modularity float8 not null,
  full_run_at timestamptz not null default now()
);
select tenant_table('graph_upkeep'::regclass);
grant select, insert, update, delete on graph_upkeep to sextant_app;

-- writer: the chat model that wrote the report; empty for one that is put together from sentences.
-- note: why it is not what was asked for. evidence: a hash of what the report was written from, so
-- that a community of which that has not changed is not written again.
alter table communities add column writer text not null default '';
alter table communities add column note text not null default '';
alter table communities add column evidence uuid;
