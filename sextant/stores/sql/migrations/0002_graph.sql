-- The knowledge graph: evidence, and what follows from it.
--
-- mentions, relation_evidence and aliases are what chunks (or the user) say. Everything under
-- "Derived" is sums over evidence rows and over decisions to merge, kept up to date by the same
-- transaction that changes them (queries/graph.sql). Sums commute, so the graph of what is left after
-- deletions equals the graph built from what is left, and a batch costs the same however large the
-- graph has grown. Tables that hold a row per fact have no foreign keys: a check per row would double
-- the cost of an import, and evidence goes by document or by scope only.

-- Counts the changes of a scope's graph, for caches; a row of its own, so that writers of one graph
-- wait for each other without holding up those of its documents. projected: a graph database
-- follows, so changes go to graph_outbox too.
create table graph_versions (
  scope_id int primary key references graphs on delete cascade,
  user_id text not null,
  version bigint not null,
  projected boolean not null default false
);

create type mention_kind as enum ('title', 'alias', 'term', 'model', 'import');

-- A chunk mentions an entity. chunk_id and document_id are the nil uuid where the user asserts an
-- entity without a passage. surface: which alias an 'alias' mention was found by (aliases.key).
create table mentions (
  scope_id int not null,
  entity_id uuid not null,
  chunk_id uuid not null,
  kind mention_kind not null,
  surface bigint not null,
  user_id text not null,
  document_id uuid not null,
  name text not null,
  entity_type text not null,
  description text not null,
  external_id text,
  start_offset int not null,
  end_offset int not null,
  primary key (scope_id, entity_id, chunk_id, kind, surface)
);
create index on mentions (scope_id, document_id, chunk_id)
  where document_id <> '00000000-0000-0000-0000-000000000000';
create index on mentions (scope_id, entity_id, length(description) desc, md5(description))
  where description <> '';
create index on mentions (scope_id, entity_id, external_id) where external_id is not null;

-- A chunk states a relation.
create table relation_evidence (
  scope_id int not null,
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
create index on relation_evidence (scope_id, document_id, chunk_id)
  where document_id <> '00000000-0000-0000-0000-000000000000';

-- Names under which an entity is found in text and questions, and the document that says so (nil: the
-- user). key: 64 bits of the normalised name, which may be longer than an index entry.
create table aliases (
  scope_id int not null,
  key bigint not null,
  entity_id uuid not null,
  document_id uuid not null,
  user_id text not null,
  norm text not null,
  name text not null,
  source text not null,
  primary key (scope_id, key, entity_id, document_id)
);
create index on aliases (scope_id, document_id);
create index on aliases (scope_id, entity_id);

-- Two names of one thing, by decision; taking the row away undoes it. root_id: where a chain of
-- decisions ends.
create table entity_merges (
  scope_id int not null,
  from_id uuid not null,
  into_id uuid not null check (into_id <> from_id),
  root_id uuid not null check (root_id <> from_id),
  user_id text not null,
  reason text not null,
  created_at timestamptz not null default now(),
  primary key (scope_id, from_id)
);
create index on entity_merges (scope_id, root_id);
create index on entity_merges (scope_id, into_id);

-- Derived: how often an entity is called what. spare: a name that it would take only for want of
-- another (an alias, or the name of an entity merged into it). tokens: salted hashes of its words.
create table entity_names (
  scope_id int not null,
  entity_id uuid not null,
  user_id text not null,
  name text not null,
  entity_type text not null,
  spare boolean not null,
  times bigint not null,
  tokens bigint[] not null
);
create unique index entity_names_key
  on entity_names (scope_id, entity_id, (md5(name)::uuid), entity_type, spare);
create index entity_names_tokens on entity_names using gin (tokens);

-- Derived: an entity is there as long as something mentions it or relates it. asserted_count counts
-- mentions that are more than an extractor's guess at a term; readers are shown entities that have
-- one, or that several chunks mention.
create table entities (
  scope_id int not null,
  id uuid not null,
  user_id text not null,
  name text not null,
  entity_type text not null,
  description text not null,
  external_id text,
  mention_count bigint not null,
  asserted_count bigint not null,
  degree bigint not null,
  shown boolean not null generated always as (asserted_count > 0 or mention_count >= 2) stored,
  text_hash uuid not null generated always as (md5(name || E'\n' || description)::uuid) stored,
  embedded_hash uuid,
  created_at timestamptz not null default now(),
  primary key (scope_id, id)
) with (fillfactor = 85);
create index on entities (scope_id, external_id) where external_id is not null;
-- Which entities have no vector, or one of a text that has changed since.
create index entities_to_embed on entities (scope_id, id)
  where shown and embedded_hash is distinct from text_hash;

-- Derived: every relation from both of its ends, heaviest first, so that a hop is one index range of
-- rows that lie together. total: the sum of the evidence; numeric, because sums of floats depend on
-- their order. shown: both ends are. A merge may give a relation two equal ends; it has one row then,
-- never shown, for the day the merge is undone.
create table adjacency (
  scope_id int not null,
  node_id uuid not null,
  shown boolean not null,
  weight float8 not null,
  relation_id uuid not null,
  neighbour_id uuid not null,
  outgoing boolean not null,
  user_id text not null,
  relation_type text not null,
  total numeric not null,
  evidence_count bigint not null
);
create index adjacency_heaviest on adjacency
  (scope_id, node_id, shown, weight desc, relation_id);
create unique index adjacency_relation on adjacency (scope_id, relation_id) where outgoing;

create view relations with (security_invoker) as
select scope_id, relation_id as id, node_id as source_id, neighbour_id as target_id, relation_type,
  total as weight, evidence_count, shown, user_id
from adjacency where outgoing;

-- Searched exactly, but for scopes with so many that EntityVectors.index_if_large has given them a
-- partial HNSW index.
create table entity_vectors (
  scope_id int not null,
  entity_id uuid not null,
  user_id text not null,
  embedding vector not null,
  primary key (scope_id, entity_id)
);
do $$ begin
  execute format('alter table entity_vectors alter column embedding type %s', (
    select format_type(atttypid, atttypmod) from pg_attribute
    where attrelid = 'chunk_vectors'::regclass and attname = 'embedding'));
end $$;

-- Groups of entities with their reports; dirty: something about a member has changed since.
create table communities (
  scope_id int not null references graphs on delete cascade,
  id uuid not null,
  user_id text not null,
  level int not null,
  parent_id uuid,
  title text not null,
  summary text not null,
  findings jsonb not null,
  rating float8 not null,
  dirty boolean not null default false,
  embedding vector,
  updated_at timestamptz not null default now(),
  primary key (scope_id, id)
);

create table community_members (
  scope_id int not null,
  community_id uuid not null,
  entity_id uuid not null,
  user_id text not null,
  primary key (scope_id, community_id, entity_id)
);
create index on community_members (scope_id, entity_id);

-- Ids of rows that a graph database has yet to take over, in order.
create table graph_outbox (
  seq bigint generated always as identity primary key,
  scope_id int not null references graphs on delete cascade,
  user_id text not null,
  kind text not null,
  ids uuid[] not null,
  created_at timestamptz not null default now()
);
create index on graph_outbox (scope_id, seq);

do $$
declare one text;
begin
  foreach one in array array['graph_versions', 'mentions', 'relation_evidence', 'aliases',
    'entity_merges', 'entity_names', 'entities', 'adjacency', 'entity_vectors', 'communities',
    'community_members', 'graph_outbox']
  loop
    perform tenant_table(one::regclass);
    execute format('grant select, insert, update, delete on %I to sextant_app', one);
  end loop;
end $$;
grant select on relations to sextant_app;

-- An entity as readers see it, with its other names, commonest first.
create view seen_entities with (security_invoker) as
select e.scope_id, e.id, e.name, e.entity_type, e.description, e.degree, e.mention_count,
  e.external_id, coalesce((
    select array_agg(other.name order by other.times desc, other.name collate "C") from (
      select n.name, sum(n.times) as times from entity_names n
      where n.scope_id = e.scope_id and n.entity_id = e.id and n.name <> e.name group by n.name
    ) as other), '{}') as aliases
from entities e where e.shown;
grant select on seen_entities to sextant_app;

-- A relation is named by what it says (stores.graph.ids.relation_id computes the same).
create function relation_key(source_id uuid, target_id uuid, relation_type text) returns uuid
language sql stable
return md5(uuid_send(source_id) || uuid_send(target_id) || convert_to(relation_type, 'UTF8'))::uuid;
grant execute on function relation_key(uuid, uuid, text) to sextant_app;

-- Names that share words with a question. As the owner, because a policy would keep the planner
-- from the index (see search_grams); so the tenant is checked here, first. The score is Dice's
-- coefficient of the two sets of words: 2 × shared ÷ (words of the name + words of the question).
create policy owner_searches on entity_names for select to current_user using (true);
create function search_names(wanted_scope int, wanted bigint[])
returns table (entity_id uuid, name text, score float8)
language plpgsql stable security definer
set search_path from current
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
as $$
begin
  if not exists (select from graphs where scope_id = wanted_scope
      and user_id = nullif(current_setting('sextant.user_id', true), '')) then
    return;
  end if;
  return query
  select n.entity_id, n.name, 2.0 * shared.number / (cardinality(n.tokens) + cardinality(wanted))
  from entity_names n cross join lateral (
    select count(*)::float8 as number from unnest(n.tokens) as token where token = any(wanted)
  ) as shared
  where n.tokens && wanted and n.scope_id + 0 = wanted_scope;
end $$;
revoke execute on function search_names(int, bigint[]) from public;
grant execute on function search_names(int, bigint[]) to sextant_app;

-- Vectors of another model mean nothing: those of the graph go with those of the chunks.
alter function reset_vectors(text, int) rename to reset_chunk_vectors;
create function reset_vectors(new_name text, new_dimension int) returns void
language plpgsql
set search_path from current
as $$
declare own_index regclass;
begin
  perform reset_chunk_vectors(new_name, new_dimension);
  for own_index in select indexrelid from pg_index
    where indrelid = 'entity_vectors'::regclass and indpred is not null loop
    execute format('drop index %s', own_index);
  end loop;
  truncate entity_vectors;
  execute format('alter table entity_vectors alter column embedding type vector(%s)', new_dimension);
  update entities set embedded_hash = null where embedded_hash is not null;
  update communities set embedding = null where embedding is not null;
end $$;
revoke execute on function reset_vectors(text, int) from public;
