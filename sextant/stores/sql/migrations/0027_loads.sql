-- A graph that is being taken over whole by a version before this one is taken over anew, by notes of
-- other kinds (sql/queries/graph_projection.sql).
update graph_outbox set kind = 'everything', ids = '{}' where kind = 'all entities';
