-- name: open
-- Set the knowledge base that this connection shows, and let HNSW search on until enough rows match the filter
-- (strict_order would drop late ones).
select set_config('sextant.user_id', %(user_id)s, false),
  set_config('sextant.graph_id', %(graph_id)s, false),
  set_config('hnsw.ef_search', %(ef_search)s, false),
  set_config('hnsw.iterative_scan', 'relaxed_order', false),
  set_config('hnsw.max_scan_tuples', '2147483647', false),
  set_config('plan_cache_mode', 'force_custom_plan', false);
