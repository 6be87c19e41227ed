-- The knowledge graph: evidence, and what is derived from it.
--
-- mentions, relation_evidence and aliases are what chunks (or the user) state. Everything under "Derived" is sums
-- over evidence and over decisions to merge, updated in the transaction that changes them (queries/graph*.sql).
-- Sums commute, so the graph of what remains after deletions equals the graph built from what remains, and a batch
-- costs the same however large the graph is. Tables with a row for each fact have no foreign keys: a check for each
-- row would double the cost of an import, and evidence is deleted by document or by knowledge base only.

-- Counts the changes of a graph, for caches; a row of its own, so that writers of one graph wait for each other
-- without blocking those of its documents. projected: a graph database follows, so changes are written to
-- graph_outbox. compared_version: the version whose names have been compared (resolution). copied: how many times
-- a graph database has taken something over; its copy has the number, too, and one with a lesser number was
-- restored from a backup or is of another server, so it is copied whole again.
create table graph_versions (
  scope_id int primary key references graphs on delete cascade,
  user_id text not null,
  version bigint not null,
  projected boolean not null default false,
  compared_version bigint,
  copied bigint not null default 0
);
select tenant_table('graph_versions');
grant select, insert, update, delete on graph_versions to sextant_app;

-- A relation is identified by what it states (stores/graph/evidence.py computes the same).
create function relation_key(source_id uuid, target_id uuid, relation_type text) returns uuid
language sql stable
return md5(uuid_send(source_id) || uuid_send(target_id) || convert_to(relation_type, 'UTF8'))::uuid;
grant execute on function relation_key(uuid, uuid, text) to sextant_app;

-- Evidence ------------------------------------------------------------------------------------------

create type mention_kind as enum ('title', 'alias', 'term', 'name', 'model', 'import');

-- A chunk mentions an entity. chunk_id and document_id are the nil uuid where the user states an entity without a
-- passage. surface: the alias (aliases.key) that an 'alias' mention was found by.
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
-- Types given by a chat model or an import, which come before those that the name suggests.
create index mentions_stated_types on mentions (scope_id, entity_id, entity_type)
  where kind in ('model', 'import') and entity_type not in ('', 'TERM');
select tenant_table('mentions');
grant select, insert, update, delete on mentions to sextant_app;

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
-- Texts that define an abbreviation.
create index on relation_evidence (scope_id, source_id, target_id) where relation_type = 'ABBREVIATES';
select tenant_table('relation_evidence');
grant select, insert, update, delete on relation_evidence to sextant_app;

-- Names under which an entity is found in texts and questions, and the document that states them (nil: the user).
-- key: 64 bits of the normalised name, which may be longer than an index entry.
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
select tenant_table('aliases');
grant select, insert, update, delete on aliases to sextant_app;

-- What became of a passage that a chat model was to read; one without a row waits. The row is written in the
-- transaction that stores what the model extracted, so 'done' means that it is in the graph.
create table extractions (
  scope_id int not null,
  chunk_id uuid not null,
  document_id uuid not null,
  user_id text not null,
  state text not null check (state in ('done', 'failed')),
  attempts int not null,
  error_code text,
  error text,
  input_tokens bigint not null,
  output_tokens bigint not null,
  prompt_version int not null,
  updated_at timestamptz not null default now(),
  primary key (scope_id, chunk_id)
);
create index on extractions (scope_id, document_id);
select tenant_table('extractions');
grant select, insert, update, delete on extractions to sextant_app;

-- Resolution: which names are one entity ----------------------------------------------------------------

-- Two names of one entity, by decision; deleting the row undoes it. root_id: where a chain of decisions ends.
-- automatic: decided by comparing names, and decided again when they change; a user's decisions stay.
create table entity_merges (
  scope_id int not null,
  from_id uuid not null,
  into_id uuid not null check (into_id <> from_id),
  root_id uuid not null check (root_id <> from_id),
  user_id text not null,
  reason text not null,
  created_at timestamptz not null default now(),
  automatic boolean not null default false,
  primary key (scope_id, from_id)
);
create index on entity_merges (scope_id, root_id);
create index on entity_merges (scope_id, into_id);
select tenant_table('entity_merges');
grant select, insert, update, delete on entity_merges to sextant_app;

-- Names that may be one entity, the smaller id first. verdict: 'same' merges automatically (unless an abbreviation
-- has several meanings), 'open' is for the user or a chat model to decide, 'different' is a chat model's answer.
create table entity_pairs (
  scope_id int not null,
  one_id uuid not null,
  other_id uuid not null check (other_id > one_id),
  user_id text not null,
  verdict text not null check (verdict in ('same', 'open', 'different')),
  reason text not null,
  score float8 not null,
  primary key (scope_id, one_id, other_id)
);
create index on entity_pairs (scope_id, other_id);
select tenant_table('entity_pairs');
grant select, insert, update, delete on entity_pairs to sextant_app;

-- The user has decided that these are two entities: they are never merged automatically.
create table entity_distinctions (
  scope_id int not null,
  one_id uuid not null,
  other_id uuid not null check (other_id > one_id),
  user_id text not null,
  created_at timestamptz not null default now(),
  primary key (scope_id, one_id, other_id)
);
select tenant_table('entity_distinctions');
grant select, insert, update, delete on entity_distinctions to sextant_app;

-- Which names have been compared with all others, by a hash of them as they were then.
create table compared_names (
  scope_id int not null,
  entity_id uuid not null,
  user_id text not null,
  hash bigint not null,
  primary key (scope_id, entity_id)
);
select tenant_table('compared_names');
grant select, insert, update, delete on compared_names to sextant_app;

-- Derived -------------------------------------------------------------------------------------------

-- How often an entity is given which name. spare: a name that it takes only for want of another (an alias, or the
-- name of an entity merged into it).
create table entity_names (
  scope_id int not null,
  entity_id uuid not null,
  user_id text not null,
  name text not null,
  entity_type text not null,
  spare boolean not null,
  times bigint not null
);
create unique index entity_names_key
  on entity_names (scope_id, entity_id, (md5(name)::uuid), entity_type, spare);
select tenant_table('entity_names');
grant select, insert, update, delete on entity_names to sextant_app;

-- The text of an entity for full-text search: every pair of neighbouring ideographs is a word, one alone is one,
-- too, and what is neither letter, digit nor ASCII becomes a space, for the parser takes marks of other scripts
-- for letters where the database's locale is C. Compatibility forms (full-width letters) become plain.
create function search_words(body text) returns text language plpgsql immutable parallel safe as $$
declare
  characters text[];
  words text := '';
  here text;
  after text;
  inside boolean := false;
begin
  if octet_length(body) = length(body) then
    return body;
  end if;
  body := regexp_replace(normalize(body, nfkc),
    '[\u0080-\u00bf\u00d7\u00f7\u02b9-\u02ff\u2000-\u2bff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3030\u30fb\ue000-\uf8ff\ufe10-\ufe6f\uff00-\uffff\U0001f000-\U0001faff\U000e0000-\U0010ffff]',
    ' ', 'g');
  characters := string_to_array(body, null);
  for place in 1 .. coalesce(array_length(characters, 1), 0) loop
    here := characters[place];
    if here ~ '[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]' then
      after := characters[place + 1];
      if after ~ '[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]' then
        words := words || ' ' || here || after;
      elsif not inside then
        words := words || ' ' || here;
      end if;
      inside := true;
    else
      words := words || case when inside then ' ' else '' end || here;
      inside := false;
    end if;
  end loop;
  return words;
end $$;

-- Name before description (weights A and D of ts_rank_cd, 1.0 and 0.1), English stemmed; of a name the first
-- thousand characters, of a description the first four thousand. The number of the knowledge base is a word of it,
-- which no text can contain: so one index serves all tenants, and a frequent word costs nobody what others wrote.
create function entity_words(scope_id int, name text, description text) returns tsvector
language sql immutable parallel safe
begin atomic
  select setweight(to_tsvector('pg_catalog.english'::regconfig, search_words(left(name, 1000))), 'A')
    || to_tsvector('pg_catalog.english'::regconfig, search_words(left(description, 4000)))
    || ('''#' || scope_id::text || '''')::tsvector;
end;
grant execute on function search_words(text), entity_words(int, text, text) to sextant_app;

-- An entity exists as long as something mentions it or relates it. mention_count: chunks that mention it.
-- asserted_count: mentions that are more than an extractor's guess at a term; readers see entities that have one,
-- or that several chunks mention (shown). embedded_hash differs from text_hash where the vector is missing or of
-- an older text.
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
  fts tsvector generated always as (
    case when asserted_count > 0 or mention_count >= 2
      then entity_words(scope_id, name, description) end) stored,
  primary key (scope_id, id)
) with (fillfactor = 85);
create index on entities (scope_id, external_id) where external_id is not null;
create index entities_to_embed on entities (scope_id, id)
  where shown and embedded_hash is distinct from text_hash;
-- The list of what waits to be sorted in is short, because every search reads it.
create index entities_fts on entities using gin (fts)
  with (gin_pending_list_limit = 256) where shown;
select tenant_table('entities');
grant select, insert, update, delete on entities to sextant_app;
create policy owner_searches on entities for select to current_user using (true);

-- Every relation from both of its ends, heaviest first, so that a hop is one range of an index whose rows lie
-- together. total: the sum of the evidence; numeric, because sums of floats depend on their order. shown: both ends
-- are. A merge may give a relation two equal ends; it has one row then, never shown, in case the merge is undone.
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
-- Relations are looked up by source and id: ids are hashes, and in an index by id alone each was on another page,
-- a seventh of what an import cost. The source of an id is known from its evidence, or from merged_relations.
create unique index adjacency_source on adjacency (scope_id, node_id, relation_id) where outgoing;
select tenant_table('adjacency');
grant select, insert, update, delete on adjacency to sextant_app;

-- The sources of relations that evidence about merged entities counts for: that evidence has ids of its own. A row
-- too many does no harm, since an id has one source; it is deleted with its relation.
create table merged_relations (
  scope_id int not null,
  id uuid not null,
  user_id text not null,
  source_id uuid not null,
  primary key (scope_id, id)
);
select tenant_table('merged_relations');
grant select, insert, update, delete on merged_relations to sextant_app;

-- Searched exactly; large graphs have a partial HNSW index (stores/graph/record).
create table entity_vectors (
  scope_id int not null,
  entity_id uuid not null,
  user_id text not null,
  embedding vector(384) not null,
  primary key (scope_id, entity_id)
);
select tenant_table('entity_vectors');
grant select, insert, update, delete on entity_vectors to sextant_app;

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
select tenant_table('graph_outbox');
grant select, insert, update, delete on graph_outbox to sextant_app;

-- Views -------------------------------------------------------------------------------------------

create view relations with (security_invoker) as
select scope_id, relation_id as id, node_id as source_id, neighbour_id as target_id, relation_type,
  total as weight, evidence_count, shown, user_id
from adjacency where outgoing;
grant select on relations to sextant_app;

-- An entity as readers see it, with its other names, the most frequent first.
create view seen_entities with (security_invoker) as
select e.scope_id, e.id, e.name, e.entity_type, e.description, e.degree, e.mention_count,
  e.external_id, coalesce((
    select array_agg(other.name order by other.times desc, other.name collate "C") from (
      select n.name, sum(n.times) as times from entity_names n
      where n.scope_id = e.scope_id and n.entity_id = e.id and n.name <> e.name group by n.name
    ) as other), '{}') as aliases
from entities e where e.shown;
grant select on seen_entities to sextant_app;
