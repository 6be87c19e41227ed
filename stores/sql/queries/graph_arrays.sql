-- name: chunks
-- Every chunk, in the order of its number.
copy (select id from chunks where scope_id = %(scope_id)s order by id) to stdout (format binary);

-- name: entities
-- Every entity that readers see, in the order of its number.
copy (select id from entities where scope_id = %(scope_id)s and shown order by id)
to stdout (format binary);

-- name: names
-- The same entities' names; a name is one line.
copy (select name from entities where scope_id = %(scope_id)s and shown order by id) to stdout;

-- name: entity_types
-- The same entities' types.
copy (select entity_type from entities where scope_id = %(scope_id)s and shown order by id) to stdout;

-- name: mentions
-- Who mentions whom, and how (the place of the kind in the enumeration).
copy (
  select m.entity_id, m.chunk_id, case m.kind when 'title' then 0 when 'alias' then 1
    when 'term' then 2 when 'model' then 3 else 4 end
  from mentions m where m.scope_id = %(scope_id)s and m.chunk_id <> %(nil)s
) to stdout (format binary);

-- name: relation_types
-- The types there are.
select distinct relation_type from relations where scope_id = %(scope_id)s and shown order by relation_type;

-- name: relations
-- Relations with the place of their type among those.
copy (
  select source_id, target_id, weight::float8,
    array_position(%(types)s::text[], relation_type) - 1
  from relations where scope_id = %(scope_id)s and shown
) to stdout (format binary);

-- name: aliases
-- Which name means which entity.
copy (select norm from aliases where scope_id = %(scope_id)s order by key, entity_id, document_id)
to stdout;

-- name: alias_ids
-- The same aliases' entities.
copy (select entity_id from aliases where scope_id = %(scope_id)s order by key, entity_id, document_id)
to stdout (format binary);

-- name: roots
-- What was merged into what, in the end.
copy (select from_id, root_id from entity_merges where scope_id = %(scope_id)s
  order by from_id)
to stdout (format binary);
