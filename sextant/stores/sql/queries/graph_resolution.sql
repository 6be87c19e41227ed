-- name: names
-- All entities that are visible or that a text defines, by their own evidence, without what they are merged with:
-- derived rows where no merge is involved, otherwise counted again.
with defined as materialized (
  select end_id as id from relation_evidence e
  cross join lateral (values (e.source_id), (e.target_id)) as ends (end_id)
  where e.scope_id = %(scope_id)s and e.relation_type = %(abbreviates)s group by end_id
), concerned as materialized (
  select %(scope_id)s::int as scope_id, from_id as id from entity_merges where scope_id = %(scope_id)s
  union select scope_id, root_id from entity_merges where scope_id = %(scope_id)s
), said as (
  select c.id, m.name, m.entity_type, m.external_id, count(*) as times,
    count(*) filter (where m.kind <> 'term') as asserted
  from concerned c join mentions m on m.scope_id = c.scope_id and m.entity_id = c.id
  where m.kind <> 'alias' group by c.id, m.name, m.entity_type, m.external_id
), counts as (
  select c.id, count(distinct m.chunk_id) filter (where m.chunk_id <> %(nil)s) as mentions
  from concerned c join mentions m on m.scope_id = c.scope_id and m.entity_id = c.id group by c.id
), own_names as (
  select distinct on (id) id, name from said
  group by id, name order by id, sum(times) desc, name collate "C"
), own_types as (
  select distinct on (id) id, entity_type from said where entity_type <> 'TERM'
  group by id, entity_type order by id, sum(times) desc, entity_type collate "C"
), sums as (
  select id, min(external_id collate "C") as external_id, sum(asserted) as asserted
  from said group by id
)
select c.id, n.name, coalesce(t.entity_type, 'TERM') as entity_type, s.external_id, c.mentions
from counts c join own_names n using (id) join sums s using (id) left join own_types t using (id)
where s.asserted > 0 or c.mentions >= 2 or c.id in (select id from defined)
union all
select e.id, e.name, e.entity_type, e.external_id, e.mention_count from entities e
where e.scope_id = %(scope_id)s and (e.shown or e.id in (select id from defined)) and e.name <> ''
  and not exists (select from concerned c where c.id = e.id);

-- name: definitions
-- The abbreviations that texts define, with their full forms.
select distinct source_id, target_id from relation_evidence
where scope_id = %(scope_id)s and relation_type = %(abbreviates)s;

-- name: own_aliases
-- The names that the user gives to entities.
select distinct entity_id, norm from aliases
where scope_id = %(scope_id)s and document_id = %(nil)s;

-- name: merges
-- The current merges.
select from_id, into_id, root_id, automatic from entity_merges where scope_id = %(scope_id)s;

-- name: distinctions
-- The pairs that the user has separated.
select one_id, other_id from entity_distinctions where scope_id = %(scope_id)s;

-- name: pairs
-- The compared pairs.
select one_id, other_id, verdict, reason, score from entity_pairs where scope_id = %(scope_id)s;

-- name: compared
-- The names that have been compared.
select entity_id, hash from compared_names where scope_id = %(scope_id)s;

-- name: versions
-- The version of the graph, and the one whose names are compared.
select version, compared_version from graph_versions where scope_id = %(scope_id)s;

-- name: note_version
-- Record that the names of this version are compared.
update graph_versions set compared_version = %(version)s where scope_id = %(scope_id)s;

-- name: note_compared
-- Record that these names have been compared with all others.
insert into compared_names (scope_id, entity_id, user_id, hash)
select %(scope_id)s, id, %(user_id)s, hash from unnest(%(ids)s::uuid[], %(hashes)s::bigint[]) as n (id, hash)
on conflict (scope_id, entity_id) do update set hash = excluded.hash;

-- name: forget_compared
-- Forget names that were deleted or changed.
with gone as (
  delete from compared_names where scope_id = %(scope_id)s and entity_id = any(%(ids)s)
)
delete from entity_pairs
where scope_id = %(scope_id)s and (one_id = any(%(ids)s) or other_id = any(%(ids)s));

-- name: add_pairs
-- Store compared pairs; a verdict stays until a name changes.
insert into entity_pairs (scope_id, one_id, other_id, user_id, verdict, reason, score)
select %(scope_id)s, one_id, other_id, %(user_id)s, verdict, reason, score
from unnest(%(ones)s::uuid[], %(others)s::uuid[], %(verdicts)s::text[], %(reasons)s::text[],
  %(scores)s::float8[]) as p (one_id, other_id, verdict, reason, score)
on conflict (scope_id, one_id, other_id) do update
set verdict = excluded.verdict, reason = excluded.reason, score = excluded.score;

-- name: candidates
-- Pairs for the user to decide, most similar first, each pair of entities once; merged and separated pairs are left
-- out, whichever of their names were compared. The order is that of the compared pairs, which no merge changes, so
-- that a list can be continued while its entries are decided. Roots and entities are looked up pair by pair:
-- without statistics of a new scope, all entities were joined with all others. `not in` is hashed whatever the
-- planner knows.
with apart as (
  select least(one.id, other.id) as one_id, greatest(one.id, other.id) as other_id
  from entity_distinctions d
  cross join lateral (select coalesce((select g.root_id from entity_merges g
    where g.scope_id = d.scope_id and g.from_id = d.one_id), d.one_id) as id) as one
  cross join lateral (select coalesce((select g.root_id from entity_merges g
    where g.scope_id = d.scope_id and g.from_id = d.other_id), d.other_id) as id) as other
  where d.scope_id = %(scope_id)s
), open as materialized (
  select p.scope_id, p.one_id as first_id, p.other_id as second_id, p.reason, p.score,
    coalesce((select g.root_id from entity_merges g
      where g.scope_id = p.scope_id and g.from_id = p.one_id), p.one_id) as one_id,
    coalesce((select g.root_id from entity_merges g
      where g.scope_id = p.scope_id and g.from_id = p.other_id), p.other_id) as other_id
  from entity_pairs p where p.scope_id = %(scope_id)s and p.verdict = 'open'
), listed as (
  select distinct on (least(p.one_id, p.other_id), greatest(p.one_id, p.other_id))
    p.one_id, p.other_id, p.reason, p.score, one.name as one_name, other.name as other_name,
    p.first_id, p.second_id
  from open p
  cross join lateral (select * from entities e
    where e.scope_id = p.scope_id and e.id = p.one_id offset 0) as one
  cross join lateral (select * from entities e
    where e.scope_id = p.scope_id and e.id = p.other_id offset 0) as other
  where p.one_id <> p.other_id
    and (%(both_owned)s or one.external_id is null or other.external_id is null)
    and (least(p.one_id, p.other_id), greatest(p.one_id, p.other_id))
      not in (select one_id, other_id from apart)
  order by least(p.one_id, p.other_id), greatest(p.one_id, p.other_id), p.score desc, p.first_id, p.second_id
)
select * from listed
where %(after_one)s::uuid is null or (-score, first_id, second_id)
  > (-%(after_score)s::float8, %(after_one)s::uuid, %(after_other)s::uuid)
order by score desc, first_id, second_id limit %(limit)s;

-- name: distinguish
-- Record that the user separates the entities of each pair.
insert into entity_distinctions (scope_id, one_id, other_id, user_id)
select %(scope_id)s, least(one, other), greatest(one, other), %(user_id)s
from unnest(%(ones)s::uuid[], %(others)s::uuid[]) as pair (one, other)
on conflict do nothing;

-- name: confuse
-- Delete the user's separations among these entities.
delete from entity_distinctions d where d.scope_id = %(scope_id)s
  and d.one_id = any(%(ids)s) and d.other_id = any(%(ids)s);

-- name: component
-- All entities that are merged with these, and how.
with roots as (
  select distinct coalesce((select g.root_id from entity_merges g
    where g.scope_id = %(scope_id)s and g.from_id = named.id), named.id) as id
  from unnest(%(ids)s::uuid[]) as named (id)
)
select r.id, r.id as root_id, null::uuid as into_id, false as automatic from roots r
union all
select g.from_id, g.root_id, g.into_id, g.automatic from roots r
join entity_merges g on g.scope_id = %(scope_id)s and g.root_id = r.id;

-- name: mentions
-- The passages that mention an entity under any of its names, strongest evidence first, each once.
with names as (
  select %(id)s::uuid as id
  union select from_id from entity_merges where scope_id = %(scope_id)s and root_id = %(id)s
), best as (
  select distinct on (m.chunk_id) m.chunk_id, m.kind, m.name, m.start_offset, m.end_offset
  from names n join mentions m on m.scope_id = %(scope_id)s and m.entity_id = n.id
  where m.chunk_id <> %(nil)s
  order by m.chunk_id, m.end_offset = 0, m.kind desc, m.start_offset
)
select b.chunk_id, f.document_id, f.filename, f.page, f.section_path, b.kind::text, b.name, f.text,
  f.start_offset as "offset", b.start_offset as start, b.end_offset as end
from best b join found_chunks f on f.scope_id = %(scope_id)s and f.id = b.chunk_id
order by b.kind = 'term', f.filename, f.ordinal limit %(limit)s;

-- name: merged
-- The entities that were merged into an entity, with reasons.
select g.from_id, coalesce((select min(m.name collate "C") from mentions m
    where m.scope_id = g.scope_id and m.entity_id = g.from_id and m.kind <> 'alias'), '') as name,
  g.reason, g.automatic
from entity_merges g where g.scope_id = %(scope_id)s and g.root_id = %(id)s
order by g.created_at, g.from_id;
