-- Communities of a graph with their reports, and the upkeep that follows the graph.

-- dirty: a member has changed since the report. writer: the chat model that wrote the report; empty if it is composed
-- of sentences. note: why the report is not what was asked for. evidence: a hash of all that the report was written
-- from. sources: hashes of these names, statements and passages; told: hashes of those that the report may mention.
-- A report is written again only if they have changed by more than a little.
create table communities (
  scope_id int not null references graphs on delete cascade,
  id uuid not null,
  user_id text not null,
  level int not null,
  parent_id uuid,
  title text not null,
  summary text not null,
  findings jsonb not null,
  rating float8 not null,
  dirty boolean not null default false,
  embedding vector,
  updated_at timestamptz not null default now(),
  writer text not null default '',
  note text not null default '',
  evidence uuid,
  told uuid[] not null default '{}',
  sources uuid[] not null default '{}',
  primary key (scope_id, id)
);
select tenant_table('communities');
grant select, insert, update, delete on communities to sextant_app;

create table community_members (
  scope_id int not null,
  community_id uuid not null,
  entity_id uuid not null,
  user_id text not null,
  primary key (scope_id, community_id, entity_id)
);
create index on community_members (scope_id, entity_id);
select tenant_table('community_members');
grant select, insert, update, delete on community_members to sextant_app;

-- version: of the graph that the communities follow. edges, modularity: of the last full run; whether another is due
-- is decided by comparing with them. followed_at, passages: time of the last refresh, and the number of passages then.
-- The cost of a refresh grows with the graph, so it may wait until enough is new.
create table graph_upkeep (
  scope_id int primary key references graphs on delete cascade,
  user_id text not null,
  version bigint not null,
  edges bigint not null,
  modularity float8 not null,
  full_run_at timestamptz not null default now(),
  followed_at timestamptz not null default now(),
  passages bigint not null default 0
);
select tenant_table('graph_upkeep');
grant select, insert, update, delete on graph_upkeep to sextant_app;

-- Sentences, in order, about parts of a graph that the last update left behind (names without a decision, a graph
-- database that is behind). A command prints them at its end; clients over HTTP read them here.
create table graph_warnings (
  scope_id int primary key references graphs on delete cascade,
  user_id text not null,
  warnings jsonb not null default '[]'
);
select tenant_table('graph_warnings');
grant select, insert, update, delete on graph_warnings to sextant_app;
