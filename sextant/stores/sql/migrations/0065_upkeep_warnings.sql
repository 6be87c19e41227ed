-- What of a graph did not follow when it was last brought up to date (names that nobody judged, Neo4j behind):
-- sentences, in order. Whoever ingests or imports over HTTP has no command whose end could tell them.
create table graph_warnings (
  scope_id int primary key references graphs on delete cascade,
  user_id text not null,
  warnings jsonb not null default '[]'
);
select tenant_table('graph_warnings');
grant select, insert, update, delete on graph_warnings to sextant_app;
