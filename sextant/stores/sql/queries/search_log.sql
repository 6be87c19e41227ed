-- name: record
-- Store a search with its results, unless the knowledge base does not exist.
insert into search_log (scope_id, user_id, query, request, results, warnings, milliseconds)
select g.scope_id, g.user_id, %(query)s, %(request)s, %(results)s, %(warnings)s, %(milliseconds)s
from graphs g where g.user_id = %(user_id)s and g.graph_id = %(graph_id)s;

-- name: prune
-- Delete searches that are older than the retention time.
delete from search_log
where scope_id = (select scope_id from graphs
    where user_id = %(user_id)s and graph_id = %(graph_id)s)
  and at < now() - make_interval(days => %(days)s);

-- name: list
-- The last searches of a knowledge base, newest first.
select l.id, l.at, l.query, l.request, l.results, l.warnings, l.milliseconds
from search_log l join graphs g on g.scope_id = l.scope_id
where g.user_id = %(user_id)s and g.graph_id = %(graph_id)s
  and l.at >= now() - make_interval(days => %(days)s)
order by l.at desc, l.id desc limit %(limit)s;

-- name: clear
-- Delete all searches of a knowledge base.
delete from search_log
where scope_id = (select scope_id from graphs
    where user_id = %(user_id)s and graph_id = %(graph_id)s);
