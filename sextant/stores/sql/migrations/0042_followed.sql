-- When the communities of a graph last followed it, and how many passages there were then: a refresh
-- costs what the graph is large, so after an ingestion it may wait until enough is new.
alter table graph_upkeep
  add column followed_at timestamptz not null default now(),
  add column passages bigint not null default 0;
