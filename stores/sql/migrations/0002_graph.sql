-- The knowledge graph: evidence, and what follows from it.
--
-- mentions and relation_evidence are what chunks (or the user) say; entities, relations and their
-- weights are derived from them by triggers, in the same transaction. So adding and removing
-- evidence commute: the graph of what is left equals the graph built from what is left.

-- Counts the changes of a scope's graph, for caches; a row of its own, so that writers of the graph
-- wait for each other without holding up those of documents.
create table graph_versions (
  scope_id int primary key references graphs on delete cascade,
  user_id text not null,
  version bigint not null
);

-- A chunk mentions an entity. chunk_id and document_id are the nil uuid where the user asserts an
-- entity without a passage. kind: title, alias, term, model, import.
create table mentions (
  scope_id int not null references graphs on delete cascade,
  entity_id uuid not null,
  chunk_id uuid not null,
  kind text not null,
  user_id text not null,
  document_id uuid not null,
  name text not null,
  norm text not null,
  entity_type text not null,
  description text not null,
  external_id text,
  start_offset int not null,
  end_offset int not null,
  primary key (scope_id, entity_id, chunk_id, kind)
);
create index on mentions (scope_id, document_id);
create index on mentions (scope_id, chunk_id);

-- A chunk states a relation.
create table relation_evidence (
  scope_id int not null references graphs on delete cascade,
  relation_id uuid not null,
  chunk_id uuid not null,
  user_id text not null,
  document_id uuid not null,
  source_id uuid not null,
  target_id uuid not null check (target_id <> source_id),
  relation_type text not null,
  description text not null,
  weight float8 not null check (weight > 0 and weight < 'infinity'),
  primary key (scope_id, relation_id, chunk_id)
);
create index on relation_evidence (scope_id, document_id);

-- Names under which an entity is found in text and questions. source: title, section, import, manual.
create table aliases (
  scope_id int not null references graphs on delete cascade,
  norm text not null,
  entity_id uuid not null,
  document_id uuid not null,
  user_id text not null,
  name text not null,
  source text not null,
  primary key (scope_id, norm, entity_id, document_id)
);
create index on aliases (scope_id, document_id);
create index on aliases (scope_id, entity_id);

-- Derived: an entity is there as long as something mentions it.
create table entities (
  scope_id int not null references graphs on delete cascade,
  id uuid not null,
  user_id text not null,
  name text not null,
  norm text not null,
  entity_type text not null,
  description text not null,
  external_id text,
  mention_count int not null,
  degree int not null default 0,
  created_at timestamptz not null default now(),
  primary key (scope_id, id)
);
create index on entities (scope_id, norm);
create index on entities (scope_id, degree desc, id);

-- Derived: a relation with the sum of its evidence.
create table relations (
  scope_id int not null references graphs on delete cascade,
  id uuid not null,
  user_id text not null,
  source_id uuid not null,
  target_id uuid not null,
  relation_type text not null,
  description text not null,
  weight float8 not null,
  evidence_count int not null,
  created_at timestamptz not null default now(),
  primary key (scope_id, id)
);

-- Derived: every relation from both of its ends, heaviest first, so that a hop is one index range.
create table adjacency (
  scope_id int not null references graphs on delete cascade,
  node_id uuid not null,
  weight float8 not null,
  neighbour_id uuid not null,
  relation_id uuid not null,
  outgoing boolean not null,
  user_id text not null,
  primary key (scope_id, node_id, relation_id, outgoing)
);
create index adjacency_heaviest on adjacency (scope_id, node_id, weight desc, relation_id)
  include (neighbour_id, outgoing);

-- Vectors of entities (name and description) and of community reports; exact search in a scope.
create table entity_vectors (
  scope_id int not null,
  entity_id uuid not null,
  user_id text not null,
  text_hash bytea not null,
  embedding vector not null,
  primary key (scope_id, entity_id),
  foreign key (scope_id, entity_id) references entities on delete cascade
);

create table communities (
  scope_id int not null references graphs on delete cascade,
  id uuid not null,
  user_id text not null,
  level int not null,
  parent_id uuid,
  title text not null default '',
  summary text not null default '',
  findings jsonb not null default '[]',
  rating float8 not null default 0,
  members_hash bytea not null,
  report_hash bytea,
  embedding vector,
  updated_at timestamptz not null default now(),
  primary key (scope_id, id)
);
create index on communities (scope_id, level);

create table community_members (
  scope_id int not null,
  community_id uuid not null,
  entity_id uuid not null,
  user_id text not null,
  primary key (scope_id, community_id, entity_id),
  foreign key (scope_id, community_id) references communities on delete cascade
);
create index on community_members (scope_id, entity_id);

-- Two names of one thing, by decision; taking the row away undoes it.
create table entity_merges (
  scope_id int not null references graphs on delete cascade,
  from_id uuid not null,
  into_id uuid not null check (into_id <> from_id),
  user_id text not null,
  reason text not null,
  created_at timestamptz not null default now(),
  primary key (scope_id, from_id)
);

-- What a projection of the graph (Neo4j) has yet to take over, in order.
create table graph_outbox (
  seq bigint generated always as identity primary key,
  scope_id int not null references graphs on delete cascade,
  user_id text not null,
  entity_ids uuid[] not null,
  relation_ids uuid[] not null,
  created_at timestamptz not null default now()
);
create index on graph_outbox (scope_id, seq);

do $$
declare one text;
begin
  foreach one in array array['graph_versions', 'mentions', 'relation_evidence', 'aliases', 'entities', 'relations',
    'adjacency', 'entity_vectors', 'communities', 'community_members', 'entity_merges', 'graph_outbox']
  loop
    perform tenant_table(one::regclass);
    execute format('grant select, insert, update, delete on %I to sextant_app', one);
  end loop;
end $$;

-- Recompute entities from their mentions. The name is the commonest spelling, the description the
-- different descriptions, longest first; ties go by text, so that no order of arrival shows.
create function derive_entities(touched_scope int, touched uuid[]) returns void language sql as $$
  with found as (
    select distinct touched_id from unnest(touched) as touched_id
  ), spelled as (
    select entity_id, name, norm, count(*) as times,
      row_number() over (partition by entity_id order by count(*) desc, name collate "C", norm collate "C") as place
    from mentions join found on entity_id = touched_id
    where scope_id = touched_scope group by entity_id, name, norm
  ), typed as (
    select entity_id, entity_type,
      row_number() over (partition by entity_id
        order by (entity_type = 'TERM'), count(*) desc, entity_type collate "C") as place
    from mentions join found on entity_id = touched_id
    where scope_id = touched_scope group by entity_id, entity_type
  ), described as (
    select entity_id, string_agg(description, E'\n' order by length(description) desc, description collate "C") as text
    from (select distinct entity_id, description from mentions join found on entity_id = touched_id
      where scope_id = touched_scope and description <> '') as different group by entity_id
  ), counted as (
    select entity_id, min(user_id) as user_id, min(external_id) as external_id,
      count(distinct chunk_id) filter (where chunk_id <> '00000000-0000-0000-0000-000000000000') as chunks
    from mentions join found on entity_id = touched_id
    where scope_id = touched_scope group by entity_id
  ), kept as (
    insert into entities as e (scope_id, id, user_id, name, norm, entity_type, description, external_id, mention_count)
    select touched_scope, c.entity_id, c.user_id, s.name, s.norm, t.entity_type,
      left(coalesce(d.text, ''), 2000), c.external_id, c.chunks
    from counted c
    join spelled s on s.entity_id = c.entity_id and s.place = 1
    join typed t on t.entity_id = c.entity_id and t.place = 1
    left join described d on d.entity_id = c.entity_id
    on conflict (scope_id, id) do update set name = excluded.name, norm = excluded.norm,
      entity_type = excluded.entity_type, description = excluded.description,
      external_id = excluded.external_id, mention_count = excluded.mention_count
    returning id
  )
  delete from entities where scope_id = touched_scope and id in (select touched_id from found)
    and id not in (select entity_id from counted);
$$;

-- Recompute relations, both their ends' rows, and the degrees of those ends.
create function derive_relations(touched_scope int, touched uuid[]) returns void language plpgsql as $$
declare ends uuid[];
begin
  select array_agg(distinct node_id) into ends from adjacency
  where scope_id = touched_scope and relation_id = any(touched);
  delete from adjacency where scope_id = touched_scope and relation_id = any(touched);
  delete from relations where scope_id = touched_scope and id = any(touched);
  with summed as (
    select relation_id, min(user_id) as user_id, min(source_id::text)::uuid as source_id,
      min(target_id::text)::uuid as target_id, min(relation_type) as relation_type,
      sum(weight order by chunk_id) as weight, count(*) as times
    from relation_evidence
    where scope_id = touched_scope and relation_id = any(touched) group by relation_id
  ), described as (
    select relation_id, string_agg(description, E'\n' order by length(description) desc, description collate "C") as text
    from (select distinct relation_id, description from relation_evidence
      where scope_id = touched_scope and relation_id = any(touched) and description <> '') as different
    group by relation_id
  )
  insert into relations (scope_id, id, user_id, source_id, target_id, relation_type, description, weight, evidence_count)
  select touched_scope, relation_id, user_id, source_id, target_id, relation_type,
    left(coalesce(text, ''), 2000), weight, times
  from summed left join described using (relation_id);
  insert into adjacency (scope_id, node_id, weight, neighbour_id, relation_id, outgoing, user_id)
  select scope_id, source_id, weight, target_id, id, true, user_id from relations
  where scope_id = touched_scope and id = any(touched)
  union all
  select scope_id, target_id, weight, source_id, id, false, user_id from relations
  where scope_id = touched_scope and id = any(touched);
  select array_agg(distinct node) into ends from (
    select unnest(ends) as node
    union select node_id from adjacency where scope_id = touched_scope and relation_id = any(touched)
  ) as nodes;
  update entities e set degree = counted.degree
  from (select node, (select count(distinct neighbour_id) from adjacency
      where scope_id = touched_scope and node_id = node) as degree from unnest(ends) as node) as counted
  where e.scope_id = touched_scope and e.id = counted.node and e.degree <> counted.degree;
end $$;

create function bump_graph_version(changed_scope int) returns void language sql as $$
  insert into graph_versions (scope_id, user_id, version)
  select scope_id, user_id, 1 from graphs where scope_id = changed_scope
  on conflict (scope_id) do update set version = graph_versions.version + 1;
$$;

-- Entities first: a relation's ends must be there when their degrees are counted.
create function mentions_changed() returns trigger language plpgsql as $$
declare one record;
begin
  for one in select scope_id, array_agg(distinct entity_id) as ids from changed group by scope_id loop
    perform derive_entities(one.scope_id, one.ids);
    update entities e set degree = counted.degree
    from (select node, (select count(distinct neighbour_id) from adjacency
        where scope_id = one.scope_id and node_id = node) as degree from unnest(one.ids) as node) as counted
    where e.scope_id = one.scope_id and e.id = counted.node and e.degree <> counted.degree;
    perform bump_graph_version(one.scope_id);
  end loop;
  return null;
end $$;
create trigger mentions_added after insert on mentions referencing new table as changed
  for each statement execute function mentions_changed();
create trigger mentions_removed after delete on mentions referencing old table as changed
  for each statement execute function mentions_changed();

create function relation_evidence_changed() returns trigger language plpgsql as $$
declare one record;
begin
  for one in select scope_id, array_agg(distinct relation_id) as ids from changed group by scope_id loop
    perform derive_relations(one.scope_id, one.ids);
    perform bump_graph_version(one.scope_id);
  end loop;
  return null;
end $$;
create trigger relation_evidence_added after insert on relation_evidence referencing new table as changed
  for each statement execute function relation_evidence_changed();
create trigger relation_evidence_removed after delete on relation_evidence referencing old table as changed
  for each statement execute function relation_evidence_changed();
