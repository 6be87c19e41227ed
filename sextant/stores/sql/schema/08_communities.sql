-- Communities of a graph with their reports, and the upkeep that follows the graph.

-- dirty: something about a member has changed since. writer: the chat model that wrote the report; empty for one
-- that is composed of sentences. note: why it is not what was asked for. evidence: a hash of what the report was
-- written from. sources: hashes of the names, statements and passages that were this, and told: of those that it may
-- mention, so that a report is written again only when it has changed by more than a little.
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
-- is decided by comparing with them. followed_at, passages: when they last followed, and how many passages there
-- were: a refresh costs as much as the graph is large, so it may wait until enough is new.
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

-- Sentences, in order, about what of a graph did not follow when it was last updated (names that nobody judged, a
-- graph database that is behind). Whoever ingests over HTTP has no command whose end could say it.
create table graph_warnings (
  scope_id int primary key references graphs on delete cascade,
  user_id text not null,
  warnings jsonb not null default '[]'
);
select tenant_table('graph_warnings');
grant select, insert, update, delete on graph_warnings to sextant_app;
