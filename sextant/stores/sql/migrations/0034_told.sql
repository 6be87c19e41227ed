-- What results tell is read by functions that answer with one value each, as the lanes search
-- (0028): the passages, the entities and the stamp of a question go in one statement, in one trip, and
-- are of one moment. They run as whoever calls them, so row-level security binds them: each names the
-- tenant first, for this statement only.

-- What results tell of chunks, in the order asked. One by one (offset 0 is a fence): the planner, which
-- believes that a document rarely has the version that it has, read the whole scope to join it.
create function told_chunks(of_user text, of_graph text, ids uuid[]) returns bytea
language plpgsql stable
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
begin
  perform set_config('sextant.user_id', of_user, true);
  return (
    select convert_to(json_agg(told order by wanted.place)::text, 'UTF8')
    from graphs g cross join unnest(ids) with ordinality as wanted(id, place)
    cross join lateral (
      select c.id, c.document_id, c.external_id, c.text, c.filename, c.document_title, c.source,
        c.section_path, coalesce(nullif(c.title, ''), c.document_title) as title, c.section_id, c.page,
        c.start_offset as start, c.end_offset as "end", c.modality, c.ordinal, c.context
      from found_chunks c where c.scope_id = g.scope_id and c.id = wanted.id offset 0
    ) as told
    where g.user_id = of_user and g.graph_id = of_graph);
end $$;

-- Entities by id, in the order asked; one that was merged is the one it was merged into.
create function told_entities(of_user text, of_graph text, ids uuid[]) returns bytea
language plpgsql stable
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
begin
  perform set_config('sextant.user_id', of_user, true);
  return (
    select convert_to(json_agg(told order by wanted.place)::text, 'UTF8')
    from (
      select g.scope_id, coalesce(m.root_id, asked.id) as id, min(asked.place) as place
      from graphs g cross join unnest(ids) with ordinality as asked(id, place)
      left join entity_merges m on m.scope_id = g.scope_id and m.from_id = asked.id
      where g.user_id = of_user and g.graph_id = of_graph group by 1, 2
    ) as wanted cross join lateral (
      select e.id, e.name, e.entity_type, e.description, e.degree, e.mention_count, e.external_id,
        e.aliases
      from seen_entities e where e.scope_id = wanted.scope_id and e.id = wanted.id offset 0
    ) as told);
end $$;

-- Changes with every batch of chunks that is added, published, replaced or deleted, with other vectors,
-- with every change of the graph, and with every report that is written or embedded.
create function scope_stamp(of_user text, of_graph text) returns bytea
language plpgsql stable
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
declare
  own int;
begin
  perform set_config('sextant.user_id', of_user, true);
  own := (select scope_id from graphs where user_id = of_user and graph_id = of_graph);
  return (
    select convert_to(json_build_array(json_build_object(
      'passages', (select concat_ws(' ', count(*), sum(chunk_count), max(updated_at), sum(live_version),
          (select created_at from embedding_space))
        from documents where scope_id = own),
      'graph', (select concat(max(version)) from graph_versions where scope_id = own),
      'reports', (select concat_ws(' ', count(*), max(updated_at), count(embedding))
        from communities where scope_id = own)))::text, 'UTF8'));
end $$;

-- Changes with every change of a scope's chunks or their vectors, for each is a change of its document's
-- row, which gets the number of the transaction, or of the vectors' space. Numbers only grow, so a stamp
-- does not come back.
create function chunk_stamp(of_user text, of_graph text) returns bytea
language plpgsql stable
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
begin
  perform set_config('sextant.user_id', of_user, true);
  return (
    select convert_to(concat_ws(' ', count(*), sum(xmin::text::bigint),
      (select created_at from embedding_space)), 'UTF8')
    from documents
    where scope_id = (select scope_id from graphs where user_id = of_user and graph_id = of_graph));
end $$;

revoke execute on function told_chunks(text, text, uuid[]), told_entities(text, text, uuid[]),
  scope_stamp(text, text), chunk_stamp(text, text) from public;
grant execute on function told_chunks(text, text, uuid[]), told_entities(text, text, uuid[]),
  scope_stamp(text, text), chunk_stamp(text, text) to sextant_app;
