-- name: page
-- Communities with a report, ordered by level, descending rating and id; those after a position.
select c.id, c.level, c.parent_id, c.title, c.summary, c.findings, c.rating, (
    select count(*) from community_members m
    where m.scope_id = c.scope_id and m.community_id = c.id) as size
from communities c
where c.scope_id = %(scope_id)s and c.title <> ''
  and (%(level)s::int is null or c.level = %(level)s)
  and (%(parent_id)s::uuid is null or c.parent_id = %(parent_id)s)
  and (%(after_id)s::uuid is null
    or (c.level, -c.rating, c.id) > (%(after_level)s::int, -%(after_rating)s::float8, %(after_id)s))
order by c.level, c.rating desc, c.id limit %(limit)s;

-- name: holding
-- The communities of an entity, coarsest first.
select c.id, c.level, c.parent_id, c.title, c.summary, c.findings, c.rating, (
    select count(*) from community_members m
    where m.scope_id = c.scope_id and m.community_id = c.id) as size
from community_members own
join communities c on c.scope_id = own.scope_id and c.id = own.community_id
where own.scope_id = %(scope_id)s and own.entity_id = %(entity_id)s and c.title <> ''
order by c.level, c.id;
