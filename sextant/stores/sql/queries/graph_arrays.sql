-- A whole graph in few rows: every column in binary, row after row, up to 256 blocks by the first byte
-- of an id. COPY sends a message per row, and reading 1.3 million of them took 2.7 s of CPU.

-- name: chunks
-- All chunks, in the order of their ids.
select string_agg(uuid_send(id), '' order by id) from chunks where scope_id = %(scope_id)s
group by get_byte(uuid_send(id), 0) order by get_byte(uuid_send(id), 0);

-- name: reading_order
-- All chunks, ordered by document name and position. This order stays when the same documents are stored again; ids
-- do not.
select string_agg(uuid_send(c.id), '' order by d.source collate "C", c.ordinal, c.id)
from chunks c join documents d on d.id = c.document_id where c.scope_id = %(scope_id)s;

-- name: entities
-- All visible entities, in the order of their ids; a name and a type are one line each.
select string_agg(uuid_send(id), '' order by id), string_agg(name, E'\n' order by id),
  string_agg(entity_type, E'\n' order by id)
from entities where scope_id = %(scope_id)s and shown
group by get_byte(uuid_send(id), 0) order by get_byte(uuid_send(id), 0);

-- name: mentions
-- Mentions with the position of their kind in the enumeration.
select string_agg(uuid_send(entity_id) || uuid_send(chunk_id) || case kind when 'title' then '\x00'::bytea
  when 'alias' then '\x01' when 'term' then '\x02' when 'name' then '\x03' when 'model' then '\x04'
  else '\x05' end, '')
from mentions where scope_id = %(scope_id)s and chunk_id <> %(nil)s
group by get_byte(uuid_send(entity_id), 0);

-- name: relation_types
-- The types of relations.
select distinct relation_type from relations where scope_id = %(scope_id)s and shown
order by relation_type;

-- name: relations
-- Relations with the position of their type in these types, from 1.
select string_agg(uuid_send(r.source_id) || uuid_send(r.target_id) || float8send(r.weight::float8)
  || int4send(t.place::int), '')
from relations r join unnest(%(types)s::text[]) with ordinality as t (name, place)
  on t.name = r.relation_type
where r.scope_id = %(scope_id)s and r.shown
group by get_byte(uuid_send(r.source_id), 0);

-- name: statements
-- The chunks that state each relation, without co-occurrences.
select string_agg(uuid_send(e.source_id) || uuid_send(e.target_id) || uuid_send(e.chunk_id)
  || int4send(t.place::int), '')
from relation_evidence e join unnest(%(types)s::text[]) with ordinality as t (name, place)
  on t.name = e.relation_type
where e.scope_id = %(scope_id)s and e.chunk_id <> %(nil)s and e.relation_type <> %(co_occurs)s
group by get_byte(uuid_send(e.source_id), 0);

-- name: aliases
-- The entities of each name.
select string_agg(uuid_send(entity_id), '' order by norm collate "C", entity_id, document_id),
  string_agg(norm, E'\n' order by norm collate "C", entity_id, document_id)
from aliases where scope_id = %(scope_id)s
group by get_byte(uuid_send(entity_id), 0);

-- name: roots
-- The roots of merged entities.
select string_agg(uuid_send(from_id) || uuid_send(root_id), '' order by from_id)
from entity_merges where scope_id = %(scope_id)s
group by get_byte(uuid_send(from_id), 0) order by get_byte(uuid_send(from_id), 0);
