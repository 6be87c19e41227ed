-- Stamps: values that change with every write to a knowledge base, by which caches know whether they are current.
-- A stamp costs the same however large the knowledge base is.
--
-- A writer stores a random number in the same transaction: visible when the write is, gone when it is rolled back.
-- It takes any row of its scope and kind that no other has locked, and makes one where all are locked, so none
-- waits; there are as many rows as writers have met. The stamp is all of them together: of two moments with a write
-- between them, the later has a number, of that writer or of one after it, that the earlier has not. Numbers are
-- random because counted ones come back: a restored backup brings back numbers that a process may still know, and a
-- reader may see the next number of a sequence before what it counts.
create table scope_generations (
  scope_id int not null references graphs on delete cascade,
  kind text not null,
  user_id text not null,
  generation bigint not null
) with (fillfactor = 50);
create index on scope_generations (scope_id);
select tenant_table('scope_generations');
grant select, delete on scope_generations to sextant_app;
create policy owner_notes on scope_generations to current_user using (true);

-- Notes a write, once in a transaction (of a savepoint: at every call).
create function note_write(written_scope int, what text) returns void
language plpgsql security definer
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
declare
  fresh bigint := uuid_hash_extended(gen_random_uuid(), 0);
  place tid;
begin
  if exists (select from scope_generations where scope_id = written_scope and kind = what
      and xmin = pg_current_xact_id()::xid) then
    return;
  end if;
  select ctid into place from scope_generations
  where scope_id = written_scope and kind = what limit 1 for update skip locked;
  update scope_generations set generation = fresh where ctid = place;
  if not found then
    insert into scope_generations (scope_id, kind, user_id, generation)
    select scope_id, what, user_id, fresh from graphs where scope_id = written_scope;
  end if;
end $$;

-- Every row that is inserted, updated or deleted is a write to its knowledge base.
create function note_rows() returns trigger language plpgsql security definer
set search_path from current
as $$
begin
  perform note_write(scope_id, tg_argv[0]) from (select distinct scope_id from touched) as scopes;
  return null;
end $$;
do $$
declare
  own text;
  what text;
  event text;
begin
  for own, what in values ('documents', 'passages'), ('chunks', 'passages'), ('chunk_vectors', 'passages'),
    ('chunk_grams', 'passages'), ('communities', 'reports'), ('community_members', 'reports'),
    ('entity_vectors', 'vectors')
  loop
    foreach event in array array['insert', 'update', 'delete'] loop
      execute format('create trigger note_%1$s after %1$s on %2$I referencing %3$s table as touched '
        'for each statement execute function note_rows(%4$L)',
        event, own, case event when 'insert' then 'new' else 'old' end, what);
    end loop;
  end loop;
end $$;

-- Results show a document's title, file name and external id, which its versions have (found_chunks).
create function note_document_names() returns trigger language plpgsql security definer
set search_path from current
as $$
begin
  perform note_write(new.scope_id, 'passages');
  return null;
end $$;
create trigger note_document_names after update on document_versions for each row
when ((old.title, old.filename, old.external_id)
  is distinct from (new.title, new.filename, new.external_id)) execute function note_document_names();

-- A graph changes by millions of rows, and gets another version when it does.
create function note_version() returns trigger language plpgsql security definer
set search_path from current
as $$
begin
  perform note_write(new.scope_id, 'graph');
  return null;
end $$;
create trigger note_version after update on graph_versions for each row
when (old.version <> new.version) execute function note_version();

-- A writer that has not locked a graph (sextant.locked_graph) may have changed any graph of the tenant; without a
-- tenant, any graph at all. A new vector of an entity is no change of the graph.
create function note_graphs() returns trigger language plpgsql security definer
set search_path from current
as $$
begin
  perform note_write(scope_id, 'graph') from graphs
  where user_id = coalesce(nullif(current_setting('sextant.user_id', true), ''), user_id);
  return null;
end $$;
do $$
declare
  own text;
begin
  foreach own in array array['mentions', 'relation_evidence', 'aliases', 'entity_merges',
    'entity_names', 'entities', 'adjacency']
  loop
    execute format('create trigger note_graphs after insert or delete or update%s on %I '
      'for each statement when (coalesce(current_setting(''sextant.locked_graph'', true), '''') = '''') '
      'execute function note_graphs()', case own when 'entities' then ' of scope_id, id, name, '
      'entity_type, description, external_id, mention_count, asserted_count, degree' else '' end, own);
  end loop;
end $$;
revoke execute on function note_write(int, text), note_rows(), note_document_names(), note_version(), note_graphs()
  from public;

-- The stamps of passages, graph and reports.
create function scope_stamp(of_user text, of_graph text) returns bytea
language plpgsql stable
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
begin
  perform bind_tenant(of_user);
  return (
    select convert_to(json_build_array(json_build_object(
      'passages', concat_ws(' ', own, passages, (select created_at from embedding_space)),
      'graph', concat_ws(' ', own, graph),
      'reports', concat_ws(' ', own, reports)))::text, 'UTF8')
    from (
      select min(g.scope_id) as own, bit_xor(s.generation) filter (where s.kind = 'passages') as passages,
        bit_xor(s.generation) filter (where s.kind = 'graph') as graph,
        bit_xor(s.generation) filter (where s.kind = 'reports') as reports
      from graphs g left join scope_generations s on s.scope_id = g.scope_id
      where g.user_id = of_user and g.graph_id = of_graph
    ) as written);
end $$;
revoke execute on function scope_stamp(text, text) from public;
grant execute on function scope_stamp(text, text) to sextant_app;
