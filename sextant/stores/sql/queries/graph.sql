-- name: workspace
-- Where a transaction that changes a graph works: what COPY brings (it cannot write to a table under
-- row-level security), the evidence that came (sign 1) or went (-1), and what follows from it.
--
-- Rows are deleted where the work ends; emptying these tables at every commit (ON COMMIT DELETE ROWS)
-- took 35 ms, and emptying what deleted rows have left behind is rarely due (has_workspace).
--
-- The statements below join large tables on the scope_id of these rows, not on a constant. Of a scope
-- that has just grown the planner has no statistics: it takes `scope_id = 7` for a row or two, reads
-- the whole scope first, and a batch that should cost 20 ms costs seconds. The nil id is spelt out where an
-- index leaves it out: with a parameter in its place a plan that is made once cannot use that index.
do $$ begin
  if to_regclass('pg_temp.incoming_mentions') is null then
    create temporary table incoming_mentions (
      place int, entity_id uuid, chunk_id uuid, kind text, surface bigint, name text,
      entity_type text, description text, external_id text, start_offset int, end_offset int
    );
    create temporary table incoming_relations (
      place int, source_id uuid, target_id uuid, relation_type text, chunk_id uuid, weight float8,
      description text
    );
    create temporary table incoming_aliases (
      entity_id uuid, key bigint, norm text, name text, source text, document_id uuid
    );
    create temporary table changed_mentions (
      scope_id int, entity_id uuid, kind mention_kind, name text, entity_type text, chunk_id uuid,
      description text, external_id text, sign int,
      merged boolean default false, settled boolean default false, first boolean default false
    );
    create temporary table changed_aliases (
      scope_id int, entity_id uuid, name text, sign int, settled boolean default false
    );
    create temporary table changed_relations (
      scope_id int, source_id uuid, target_id uuid, relation_type text, weight float8, sign int,
      merged boolean default false, settled boolean default false
    );
    create temporary table relation_states (
      scope_id int, id uuid, source_id uuid, target_id uuid, relation_type text, old_total numeric,
      old_count bigint, total numeric, evidence_count bigint
    );
    create temporary table entity_states (
      scope_id int, id uuid, existed boolean, was_shown boolean, shown boolean, mention_count bigint,
      asserted_count bigint, degree bigint, name text, entity_type text, description text,
      external_id text
    );
  end if;
  truncate incoming_mentions, incoming_relations, incoming_aliases, changed_mentions, changed_aliases,
    changed_relations, relation_states, entity_states;
end $$;

-- name: has_workspace
-- Whether the temporary tables exist, without so many dead rows that reading becomes slow.
select bool_and(coalesce(pg_relation_size(to_regclass('pg_temp.' || name)) <= 200000, false))
from unnest(array['incoming_mentions', 'incoming_relations', 'incoming_aliases', 'changed_mentions',
  'changed_aliases', 'changed_relations', 'relation_states', 'entity_states']
) as name;

-- name: lock
-- Let one writer at a time change a graph, until its transaction ends. Its plans are for few rows and made once,
-- since planning took as long as execution.
insert into graph_versions (scope_id, user_id, version)
values (%(scope_id)s, current_setting('sextant.user_id'), 0)
on conflict (scope_id) do update set version = graph_versions.version
returning user_id, version, projected, set_config('plan_cache_mode', 'force_generic_plan', true),
  set_config('sextant.locked_graph', scope_id::text, true);

-- name: hold
-- Lock the graph against changes until this transaction ends.
select from graph_versions where scope_id = %(scope_id)s for share;

-- name: bump
-- Increase the version of the graph.
update graph_versions set version = version + 1 where scope_id = %(scope_id)s;

-- name: version
-- The version of the graph.
select version from graph_versions where scope_id = %(scope_id)s;

-- name: project
-- Start noting changes for a graph database.
update graph_versions set projected = true where scope_id = %(scope_id)s;

-- name: counts
-- The numbers of visible entities and relations, of mentions and communities.
select
  (select count(*) from entities where scope_id = %(scope_id)s and shown) as entities,
  (select count(*) from adjacency where scope_id = %(scope_id)s and shown and outgoing) as relations,
  (select count(*) from mentions where scope_id = %(scope_id)s) as mentions,
  (select count(*) from communities where scope_id = %(scope_id)s) as communities;

-- name: note_everything
-- Note for a graph database that the whole graph is to be copied.
insert into graph_outbox (scope_id, user_id, kind, ids)
values (%(scope_id)s, %(user_id)s, 'everything', '{}');

-- name: plan_for_many
-- Settings for a bulk import: plans for the rows at hand, and memory for sorting.
select set_config('plan_cache_mode', 'auto', true), set_config('work_mem', '256MB', true),
  set_config('enable_memoize', 'off', true);

-- name: copy_mentions
-- Copy one batch, binary.
copy incoming_mentions from stdin (format binary);

-- name: copy_relations
-- One batch, binary.
copy incoming_relations from stdin (format binary);

-- name: copy_aliases
-- One batch, binary.
copy incoming_aliases from stdin (format binary);

-- name: analyze_incoming
-- Compute statistics of the temporary tables, which a large batch needs for good plans.
analyze incoming_mentions, incoming_relations;

-- name: clear_few
-- Empty the temporary tables.
with a as (delete from incoming_mentions), b as (delete from incoming_relations),
  c as (delete from incoming_aliases), d as (delete from changed_mentions),
  e as (delete from changed_aliases), f as (delete from changed_relations),
  g as (delete from relation_states)
delete from entity_states;

-- name: clear_many
-- Empty the temporary tables; cheaper for many rows.
truncate incoming_mentions, incoming_relations, incoming_aliases, changed_mentions,
  changed_aliases, changed_relations, relation_states, entity_states;

-- name: add_aliases
-- Add names of entities; one name from several documents is several rows.
with fresh as (
  insert into aliases (scope_id, key, entity_id, document_id, user_id, norm, name, source)
  select distinct on (key, entity_id, document_id)
    %(scope_id)s, key, entity_id, document_id, %(user_id)s, norm, name, source
  from incoming_aliases i
  where document_id = %(nil)s
    or exists (select from documents d where d.scope_id = %(scope_id)s and d.id = i.document_id)
  order by key, entity_id, document_id, name collate "C", source
  on conflict do nothing
  returning scope_id, entity_id, name
)
insert into changed_aliases select scope_id, entity_id, name, 1 from fresh;

-- name: replace_mentions
-- Delete mentions that come again with other content.
with latest as (
  select distinct on (entity_id, chunk_id, kind, surface) %(scope_id)s::int as scope_id, *
  from incoming_mentions order by entity_id, chunk_id, kind, surface, place desc
), gone as (
  delete from mentions m using latest i
  where m.scope_id = i.scope_id and m.entity_id = i.entity_id and m.chunk_id = i.chunk_id
    and m.kind = i.kind::mention_kind and m.surface = i.surface
    and (m.name, m.entity_type, m.description, m.external_id, m.start_offset, m.end_offset)
      is distinct from
      (i.name, i.entity_type, i.description, i.external_id, i.start_offset, i.end_offset)
  returning m.*
)
insert into changed_mentions
select scope_id, entity_id, kind, name, entity_type, chunk_id,
  description, external_id, -1 from gone;

-- name: add_mentions
-- Add mentions by existing chunks, and of existing aliases; `first`: the chunk mentioned nothing before.
with live as materialized (
  select c.id, c.document_id, earlier.number = 0 as first from (
    select distinct %(scope_id)s::int as scope_id, chunk_id from incoming_mentions
  ) as i join chunks c on c.scope_id = i.scope_id and c.id = i.chunk_id
  cross join lateral (
    select count(*) as number from mentions m where m.scope_id = c.scope_id and m.document_id = c.document_id
      and m.document_id <> '00000000-0000-0000-0000-000000000000' and m.chunk_id = c.id
  ) as earlier
  union all select %(nil)s, %(nil)s, false
), fresh as (
  insert into mentions (scope_id, entity_id, chunk_id, kind, surface, user_id, document_id, name,
    entity_type, description, external_id, start_offset, end_offset)
  select distinct on (entity_id, chunk_id, kind, surface)
    %(scope_id)s, entity_id, chunk_id, kind::mention_kind, surface, %(user_id)s,
    live.document_id, name, entity_type, description, external_id, start_offset, end_offset
  from incoming_mentions i join live on live.id = i.chunk_id
  where kind <> 'alias' or exists (select from aliases a
    where a.scope_id = %(scope_id)s and a.key = i.surface and a.entity_id = i.entity_id)
  order by entity_id, chunk_id, kind, surface, place desc
  on conflict do nothing
  returning scope_id, entity_id, chunk_id, kind, name, entity_type, description, external_id
)
insert into changed_mentions (scope_id, entity_id, kind, name, entity_type, chunk_id, description, external_id,
  sign, first)
select scope_id, entity_id, kind, name, entity_type, chunk_id, description, external_id, 1,
  chunk_id in (select id from live where first)
from fresh;

-- name: replace_relations
-- Delete statements that come again with other content.
with latest as (
  select distinct on (id, chunk_id) %(scope_id)s::int as scope_id, * from (
    select relation_key(source_id, target_id, relation_type) as id, * from incoming_relations
  ) as named order by id, chunk_id, place desc
), gone as (
  delete from relation_evidence e using latest i
  where e.scope_id = i.scope_id and e.relation_id = i.id and e.chunk_id = i.chunk_id
    and (e.weight, e.description) is distinct from (i.weight, i.description)
  returning e.*
)
insert into changed_relations
select scope_id, source_id, target_id, relation_type, weight, -1 from gone;

-- name: add_relations
-- Add statements by existing chunks.
with live as materialized (
  select c.id, c.document_id from (
    select distinct %(scope_id)s::int as scope_id, chunk_id from incoming_relations
  ) as i join chunks c on c.scope_id = i.scope_id and c.id = i.chunk_id
  union all select %(nil)s, %(nil)s
), fresh as (
  insert into relation_evidence (scope_id, relation_id, chunk_id, user_id, document_id, source_id,
    target_id, relation_type, description, weight)
  select distinct on (i.id, chunk_id) %(scope_id)s, i.id, chunk_id, %(user_id)s, live.document_id,
    source_id, target_id, relation_type, description, weight
  from (
    select relation_key(source_id, target_id, relation_type) as id, * from incoming_relations
  ) as i join live on live.id = i.chunk_id
  order by i.id, chunk_id, place desc
  on conflict do nothing
  returning scope_id, source_id, target_id, relation_type, weight
)
insert into changed_relations
select scope_id, source_id, target_id, relation_type, weight, 1 from fresh;

-- name: is_merged
-- Whether entities are merged in this graph.
select from entity_merges where scope_id = %(scope_id)s limit 1;

-- name: load_relations
-- Add statements to an empty graph without merges: rows come sorted by relation and are summed at once.
with live as materialized (
  select c.id, c.document_id from (
    select distinct %(scope_id)s::int as scope_id, chunk_id from incoming_relations
  ) as i join chunks c on c.scope_id = i.scope_id and c.id = i.chunk_id
  union all select %(nil)s, %(nil)s
), latest as (
  select distinct on (i.id, chunk_id) i.id, chunk_id, live.document_id, source_id, target_id,
    relation_type, description, weight
  from (
    select relation_key(source_id, target_id, relation_type) as id, * from incoming_relations
  ) as i join live on live.id = i.chunk_id
  order by i.id, chunk_id, place desc
), summed as materialized (
  select *, row_number() over own as place, sum(weight::numeric) over own as total
  from latest window own as (partition by id order by chunk_id)
), states as (
  insert into relation_states
  select %(scope_id)s, id, source_id, target_id, relation_type, 0, 0, total, place
  from (select *, lead(id) over () is distinct from id as last from summed) as s where last
)
insert into relation_evidence (scope_id, relation_id, chunk_id, user_id, document_id, source_id,
  target_id, relation_type, description, weight)
select %(scope_id)s, id, chunk_id, %(user_id)s, document_id, source_id, target_id, relation_type,
  description, weight
from summed;

-- name: said_aliases
-- The names that imports gave to these entities, looked up one by one, since without statistics of a new scope all
-- names would be read.
select a.entity_id, a.key from unnest(%(entities)s::uuid[]) as said (id) cross join lateral (
  select * from aliases where scope_id = %(scope_id)s and entity_id = said.id offset 0
) as a
where a.document_id = %(nil)s and a.source = 'import';

-- name: forget_aliases
-- Delete the aliases of a document, and the mentions by aliases that no other document has; with `entities` and
-- `keys`, only these. An alias that no passage contains is deleted, too.
with gone as (
  delete from aliases where scope_id = %(scope_id)s and document_id = %(document_id)s
    and (%(entities)s::uuid[] is null
      or (entity_id, key) in (select * from unnest(%(entities)s, %(keys)s::bigint[])))
  returning scope_id, key, entity_id, name
), noted as (
  insert into changed_aliases select scope_id, entity_id, name, -1 from gone
), unfounded as (
  delete from mentions m using gone g
  where m.scope_id = g.scope_id and m.entity_id = g.entity_id and m.kind = 'alias'
    and m.surface = g.key and not exists (select from aliases a
      where a.scope_id = g.scope_id and a.key = g.key and a.entity_id = g.entity_id
        and a.document_id <> %(document_id)s)
  returning m.*
), unmentioned as (
  insert into changed_mentions
  select scope_id, entity_id, kind, name, entity_type, chunk_id, '', null, -1 from unfounded
)
select from gone union all select from unfounded;

-- name: forget_mentions
-- Delete the mentions by a document's chunks, or only by the chunks `ids`.
with gone as (
  delete from mentions where scope_id = %(scope_id)s and document_id = %(document_id)s
    and document_id <> '00000000-0000-0000-0000-000000000000'
    and (%(ids)s::uuid[] is null or chunk_id = any(%(ids)s)) returning *
)
insert into changed_mentions
select scope_id, entity_id, kind, name, entity_type, chunk_id,
  description, external_id, -1 from gone;

-- name: forget_relations
-- Delete the statements by a document's chunks, or only by the chunks `ids`.
with gone as (
  delete from relation_evidence where scope_id = %(scope_id)s and document_id = %(document_id)s
    and document_id <> '00000000-0000-0000-0000-000000000000'
    and (%(ids)s::uuid[] is null or chunk_id = any(%(ids)s)) returning *
)
insert into changed_relations
select scope_id, source_id, target_id, relation_type, weight, -1 from gone;

-- name: give_back
-- Turn facts that generated passages state into the user's assertions again.
with own as (
  insert into relation_evidence (scope_id, relation_id, chunk_id, user_id, document_id, source_id,
    target_id, relation_type, description, weight)
  select distinct on (e.relation_id) e.scope_id, e.relation_id, %(nil)s, e.user_id, %(nil)s, e.source_id,
    e.target_id, e.relation_type, e.description, e.weight
  from relation_evidence e
  where e.scope_id = %(scope_id)s and e.document_id = %(document_id)s
    and e.document_id <> '00000000-0000-0000-0000-000000000000'
    and exists (select from documents d join document_versions v
      on v.document_id = d.id and v.version = d.live_version
      where d.id = e.document_id and v.metadata ? 'factsOf')
  order by e.relation_id, e.chunk_id
  on conflict do nothing
  returning *
)
insert into changed_relations
select scope_id, source_id, target_id, relation_type, weight, 1 from own;

-- name: forget_extractions
-- Forget that a chat model has read these chunks.
delete from extractions where scope_id = %(scope_id)s and document_id = %(document_id)s
  and (%(ids)s::uuid[] is null or chunk_id = any(%(ids)s));

-- name: analyze_changes
-- Compute statistics of the noted changes.
analyze changed_mentions, changed_relations;

-- name: analyze_relation_states
-- Compute statistics of the changed relations.
analyze relation_states;

-- name: resolve
-- Map the changes to the roots of merged entities. Relations without direction go from the smaller to the larger
-- id, also after a merge; otherwise they would exist twice.
with mentioned as (
  update changed_mentions c set entity_id = g.root_id, merged = true from entity_merges g
  where not c.settled and g.scope_id = c.scope_id and g.from_id = c.entity_id
), named as (
  update changed_aliases c set entity_id = g.root_id from entity_merges g
  where not c.settled and g.scope_id = c.scope_id and g.from_id = c.entity_id
)
update changed_relations c set source_id = ends.source_id, target_id = ends.target_id, merged = true
from changed_relations own
left join entity_merges source on source.scope_id = own.scope_id and source.from_id = own.source_id
left join entity_merges target on target.scope_id = own.scope_id and target.from_id = own.target_id
cross join lateral (values (
  coalesce(source.root_id, own.source_id), coalesce(target.root_id, own.target_id)
)) as roots (source_id, target_id)
cross join lateral (select
  case when turned then roots.target_id else roots.source_id end as source_id,
  case when turned then roots.source_id else roots.target_id end as target_id
  from (values (own.relation_type = %(co_occurs)s and roots.source_id > roots.target_id)) as way (turned)
) as ends
where c.ctid = own.ctid and not own.settled
  and (source.root_id is not null or target.root_id is not null);

-- name: derive_names
-- Count how often each entity has each name.
with changes as (
  select entity_id, name, entity_type, merged as spare, sign from changed_mentions
  where kind <> 'alias'
  union all select entity_id, name, '', true, sign from changed_aliases
), sums as (
  select entity_id, name, entity_type, spare, sum(sign) as times from changes
  group by entity_id, name, entity_type, spare having sum(sign) <> 0
)
insert into entity_names as n (scope_id, entity_id, user_id, name, entity_type, spare, times)
select %(scope_id)s, entity_id, %(user_id)s, name, entity_type, spare, times
from sums order by entity_id
on conflict (scope_id, entity_id, (md5(name)::uuid), entity_type, spare)
do update set times = n.times + excluded.times;

-- name: forget_names
-- Delete the names that no entity has any more.
delete from entity_names n using (
  select scope_id, entity_id from changed_mentions where sign < 0
  union select scope_id, entity_id from changed_aliases where sign < 0
) as c
where n.scope_id = c.scope_id and n.entity_id = c.entity_id and n.times = 0;

-- name: derive_relation_states
-- The old and new state of each changed relation; `known` is false in an empty graph, which saves look-ups. If an
-- end was merged, the statement has another id than the relation, which is noted with its source.
with merged as (
  insert into merged_relations (scope_id, id, user_id, source_id)
  select scope_id, relation_key(source_id, target_id, relation_type), %(user_id)s, source_id
  from changed_relations where merged and sign > 0
  on conflict do nothing
), sums as (
  select scope_id, relation_key(source_id, target_id, relation_type) as id, source_id, target_id,
    relation_type, sum(sign * weight::numeric) as total, sum(sign) as times
  from changed_relations group by scope_id, source_id, target_id, relation_type
)
insert into relation_states
select s.scope_id, s.id, s.source_id, s.target_id, s.relation_type, coalesce(r.total, 0),
  coalesce(r.evidence_count, 0), coalesce(r.total, 0) + s.total,
  coalesce(r.evidence_count, 0) + s.times
from sums s
left join adjacency r
  on %(known)s and r.scope_id = s.scope_id and r.node_id = s.source_id and r.relation_id = s.id
    and r.outgoing
where s.times <> 0 or s.total <> 0;

-- name: derive_entity_states
-- What each touched entity was and is. Its name is its commonest, its type the user's word where he gave
-- the entity one, else the commonest that says something, its description the longest that were given; ties go by content, so that neither the
-- order of arrival nor an id shows. Where nothing went and what came agrees with what is there, or
-- nothing was there, the answer is known without looking at the rest of the evidence. That is looked up
-- entity by entity: where the planner was free to choose, it read all evidence once for each of them.
--
-- A passage counts once, whatever names an entity in it and however many of those that are one: what it
-- says now, less what has changed, is what it said before. In an empty graph it said nothing, nor did a
-- passage whose first mentions these are.
with passages as (
  select scope_id, entity_id, chunk_id, sum(sign) as change, bool_and(first) as first from changed_mentions
  where chunk_id <> %(nil)s group by scope_id, entity_id, chunk_id having sum(sign) <> 0
), mentioned as (
  select entity_id, sum((now > 0)::int - (now > change)::int) as mentions
  from (select entity_id, change, case when %(known)s and not first then (
      select count(*) from (
        select p.entity_id as id where not exists (select from entity_merges g
          where g.scope_id = p.scope_id and g.from_id = p.entity_id)
        union all select g.from_id from entity_merges g
        where g.scope_id = p.scope_id and g.root_id = p.entity_id
      ) as own join mentions m
        on m.scope_id = p.scope_id and m.entity_id = own.id and m.chunk_id = p.chunk_id
    ) else change end as now from passages p) as counted
  group by entity_id
), changes as (
  select entity_id as id, 0 as mentions, sign * (kind <> 'term')::int as asserted, 0 as degree,
    case when kind <> 'alias' then name end as name,
    case when kind <> 'alias' then entity_type end as entity_type, nullif(description, '') as said,
    external_id, sign < 0 or merged as unclear
  from changed_mentions
  union all select entity_id, mentions, 0, 0, null, null, null, null, false from mentioned
  union all select entity_id, 0, 0, 0, null, null, null, null, true from changed_aliases
  union all
  select node, 0, 0, sum((evidence_count > 0)::int - (old_count > 0)::int), null, null, null, null, false
  from relation_states cross join lateral (values (source_id), (target_id)) as ends (node)
  where source_id <> target_id and (evidence_count > 0) <> (old_count > 0)
  group by node
), sums as (
  select %(scope_id)s::int as scope_id, id, sum(mentions) as mentions, sum(asserted) as asserted, sum(degree) as degree,
    min(name collate "C") as name, min(name collate "C") <> max(name collate "C") as names_differ,
    min(entity_type collate "C") as entity_type,
    min(entity_type collate "C") <> max(entity_type collate "C") as types_differ,
    min(said collate "C") as said, count(said) as times_said,
    min(external_id collate "C") as external_id, bool_or(unclear) as unclear
  from changes group by id
)
insert into entity_states
select s.scope_id, s.id, e.id is not null, coalesce(e.shown, false), false,
  coalesce(e.mention_count, 0) + s.mentions, coalesce(e.asserted_count, 0) + s.asserted,
  coalesce(e.degree, 0) + s.degree,
  case when s.unclear or s.names_differ or e.name <> s.name then coalesce((
      select n.name from entity_names n
      where n.scope_id = s.scope_id and n.entity_id = s.id group by n.name, n.spare
      order by n.spare, sum(n.times) desc, n.name collate "C" limit 1), '')
    else coalesce(e.name, s.name, '') end,
  case when s.unclear or s.types_differ or (e.entity_type <> s.entity_type and s.entity_type <> 'TERM')
    then coalesce((
      select m.entity_type from (
        select s.id, false as merged union all select g.from_id, true from entity_merges g
        where g.scope_id = s.scope_id and g.root_id = s.id
      ) as own join mentions m on m.scope_id = s.scope_id and m.entity_id = own.id
        and m.chunk_id = %(nil)s and m.kind = 'import' and m.entity_type not in ('', 'TERM')
      order by own.merged, m.entity_type collate "C" limit 1), (
      select m.entity_type from (
        select s.id, false as merged union all select g.from_id, true from entity_merges g
        where g.scope_id = s.scope_id and g.root_id = s.id
      ) as own join mentions m on m.scope_id = s.scope_id and m.entity_id = own.id
        and m.kind in ('model', 'import') and m.entity_type not in ('', 'TERM')
      group by m.entity_type, own.merged order by own.merged, count(*) desc,
        m.entity_type collate "C" limit 1), (
      select n.entity_type from entity_names n
      where n.scope_id = s.scope_id and n.entity_id = s.id and n.entity_type <> ''
      group by n.entity_type, n.spare order by n.entity_type = 'TERM', n.spare, sum(n.times) desc,
        n.entity_type collate "C" limit 1), 'TERM')
    else coalesce(e.entity_type, s.entity_type, 'TERM') end,
  case when s.times_said = 0 then coalesce(e.description, '')
    when e.id is null and s.times_said = 1 and not s.unclear then left(s.said, 2000)
    else coalesce((
      select left(string_agg(description, E'\n'
        order by length(description) desc, description collate "C"), 2000)
      from (select distinct description from (
        select m.description from (
          select s.id union all select g.from_id from entity_merges g
          where g.scope_id = s.scope_id and g.root_id = s.id
        ) as own cross join lateral (
          select description from mentions
          where scope_id = s.scope_id and entity_id = own.id and description <> ''
          order by length(description) desc, md5(description) limit 32
        ) as m order by length(m.description) desc, md5(m.description) limit 32
      ) as longest) as different), '') end,
  case when s.external_id is null then e.external_id
    when e.id is null and not s.unclear then s.external_id
    else (
      select m.external_id from (
        select s.id, false as merged union all select g.from_id, true from entity_merges g
        where g.scope_id = s.scope_id and g.root_id = s.id
      ) as own cross join lateral (
        select min(external_id collate "C") as external_id from mentions
        where scope_id = s.scope_id and entity_id = own.id and external_id is not null
      ) as m where m.external_id is not null
      order by own.merged, m.external_id collate "C" limit 1) end
from sums s
left join entities e on %(known)s and e.scope_id = s.scope_id and e.id = s.id;

-- name: derive_entities
-- Write the entities that have changed.
with kept as (
  insert into entities as e (scope_id, id, user_id, name, entity_type, description, external_id,
    mention_count, asserted_count, degree)
  select %(scope_id)s, id, %(user_id)s, name, entity_type, description, external_id, mention_count,
    asserted_count, degree
  from entity_states where mention_count > 0 or asserted_count > 0 or degree > 0 order by id
  on conflict (scope_id, id) do update set name = excluded.name, entity_type = excluded.entity_type,
    description = excluded.description, external_id = excluded.external_id,
    mention_count = excluded.mention_count, asserted_count = excluded.asserted_count,
    degree = excluded.degree, embedded_hash = case
      when excluded.asserted_count > 0 or excluded.mention_count >= 2 then e.embedded_hash end
  returning id, shown
)
update entity_states s set shown = true from kept where kept.shown and s.id = kept.id;

-- name: forget_gone_entities
-- Delete entities without mentions and relations, and vectors of entities that are not visible any more.
with gone as (
  delete from entities e using entity_states s
  where s.mention_count = 0 and s.asserted_count = 0 and s.degree = 0
    and e.scope_id = s.scope_id and e.id = s.id
), members as (
  delete from community_members m using entity_states s
  where not s.shown and m.scope_id = s.scope_id and m.entity_id = s.id
)
delete from entity_vectors v using entity_states s
where not s.shown and v.scope_id = s.scope_id and v.entity_id = s.id;

-- name: forget_gone_relations
-- Delete relations without statements.
with merged as (
  delete from merged_relations m using relation_states s
  where s.evidence_count = 0 and m.scope_id = s.scope_id and m.id = s.id
)
delete from adjacency a using (
  select scope_id, node, old_total::float8 as weight, id
  from relation_states cross join lateral (values (source_id), (target_id)) as ends (node)
  where evidence_count = 0
) as old
where a.scope_id = old.scope_id and a.node_id = old.node and a.shown in (true, false)
  and a.weight = old.weight and a.relation_id = old.id;

-- name: show_relations
-- Show or hide relations whose end has become visible or invisible. Both ends are joined by equality and step by
-- step: with `in`, a planner without statistics compares all rows with all, and otherwise it reads the relations of
-- a hub once for each entity.
with turned as materialized (
  select scope_id, id, shown from entity_states where existed and shown <> was_shown
), around as materialized (
  select a.scope_id, a.node_id, a.neighbour_id, a.weight, a.relation_id, a.shown as was,
    t.shown and a.node_id <> a.neighbour_id as may_show
  from turned t
  join adjacency a on a.scope_id = t.scope_id and a.node_id = t.id and a.shown in (true, false)
), own as (
  select distinct a.scope_id, a.node_id, a.neighbour_id, a.weight, a.relation_id, a.was
  from around a join entities n on n.scope_id = a.scope_id and n.id = a.neighbour_id
  where a.was <> (a.may_show and n.shown)
)
update adjacency a set shown = not own.was
from own cross join lateral (values (own.node_id), (own.neighbour_id)) as ends (node)
where a.scope_id = own.scope_id and a.node_id = ends.node and a.shown = own.was
  and a.weight = own.weight and a.relation_id = own.relation_id;

-- name: change_relations
-- Update relations with more or less evidence than before.
update adjacency a
set total = s.total, weight = s.total::float8, evidence_count = s.evidence_count
from (
  select scope_id, node, old_total::float8 as weight, id, total, evidence_count
  from relation_states cross join lateral (values (source_id), (target_id)) as ends (node)
  where old_count > 0 and evidence_count > 0
) as s
where a.scope_id = s.scope_id and a.node_id = s.node and a.shown in (true, false)
  and a.weight = s.weight and a.relation_id = s.id;

-- name: derive_relations
-- Add new relations, from both ends. They are sorted nearly as in `adjacency_heaviest`; sorting by all its columns
-- took twice as long.
with fresh as materialized (
  select s.id, s.source_id, s.target_id, s.relation_type, s.total, s.total::float8 as weight,
    s.evidence_count,
    coalesce(source.shown and target.shown and s.source_id <> s.target_id, false) as shown
  from relation_states s
  left join entities source on source.scope_id = s.scope_id and source.id = s.source_id
  left join entities target on target.scope_id = s.scope_id and target.id = s.target_id
  where s.old_count = 0
)
insert into adjacency (scope_id, node_id, shown, weight, relation_id, neighbour_id, outgoing,
  user_id, relation_type, total, evidence_count)
select %(scope_id)s, node, shown, weight, id, neighbour, outgoing, %(user_id)s, relation_type, total,
  evidence_count
from (
  select source_id as node, target_id as neighbour, true as outgoing, * from fresh
  union all
  select target_id, source_id, false, * from fresh where source_id <> target_id
) as ends
order by node, weight desc;

-- name: mark_communities
-- Mark communities whose report may be outdated.
update communities c set dirty = true
where not c.dirty and (c.scope_id, c.id) in (
  select m.scope_id, m.community_id from entity_states s
  join community_members m on m.scope_id = s.scope_id and m.entity_id = s.id);

-- name: note_projection
-- Note the changes for a graph database, in portions; also relations with the same sum, since their texts and
-- chunks may have changed.
insert into graph_outbox (scope_id, user_id, kind, ids)
select %(scope_id)s, %(user_id)s, kind, array_agg(id order by id) from (
  select kind, id, (row_number() over (partition by kind order by id) - 1) / 5000 as portion from (
    select 'entities' as kind, id from entity_states
    union select 'relations', relation_key(source_id, target_id, relation_type) from changed_relations
    union select 'relations', id from relation_states
  ) as touched
) as portions group by kind, portion order by kind, portion;
