-- name: stamp
-- Changes with every batch of chunks that is added, published, replaced or deleted, with other vectors,
-- with every change of the graph, and with every report that is written or embedded.
select
  (select concat_ws(' ', count(*), sum(chunk_count), max(updated_at), sum(live_version),
      (select created_at from embedding_space))
    from documents where scope_id = %(scope_id)s) as passages,
  (select concat(max(version)) from graph_versions where scope_id = %(scope_id)s) as graph,
  (select concat_ws(' ', count(*), max(updated_at), count(embedding))
    from communities where scope_id = %(scope_id)s) as reports;
