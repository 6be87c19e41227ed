-- name: open
-- Which knowledge base the connection shows, for as long as it lives, and how HNSW searches: on and
-- on until a filter has let enough rows through (strict_order would drop those that come late).
select set_config('sextant.user_id', %(user_id)s, false),
  set_config('sextant.graph_id', %(graph_id)s, false),
  set_config('hnsw.ef_search', %(ef_search)s, false),
  set_config('hnsw.iterative_scan', 'relaxed_order', false),
  set_config('hnsw.max_scan_tuples', '2147483647', false),
  set_config('plan_cache_mode', 'force_custom_plan', false);
