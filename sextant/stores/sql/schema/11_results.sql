-- What results show of chunks and entities, by functions that answer with one value each, as the lanes do: a
-- question's passages, entities and stamp come in one statement and are of one moment. They run as the caller, so
-- row-level security binds them.

-- Chunks by ids of 16 octets each, `apart` octets from each other, in that order: what nearest_chunks returned is
-- passed on as it is. One by one (offset 0 is a fence): the planner believes that a document rarely has the version
-- that it has, and would read the whole knowledge base to join it.
create function chunk_contents(of_user text, of_graph text, ids bytea, apart int) returns bytea
language plpgsql stable
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
begin
  perform bind_tenant(of_user);
  return (
    select convert_to(json_agg(result order by place)::text, 'UTF8')
    from graphs g cross join generate_series(0, octet_length(ids) / apart - 1) as place
    cross join lateral (
      select c.id, c.document_id, c.external_id, c.text, c.filename, c.document_title, c.source,
        c.section_path, coalesce(nullif(c.title, ''), c.document_title) as title, c.section_id, c.page,
        c.start_offset as start, c.end_offset as "end", c.modality, c.ordinal, c.context
      from found_chunks c
      where c.scope_id = g.scope_id and c.id = encode(substring(ids from apart * place + 1 for 16), 'hex')::uuid
      offset 0
    ) as result
    where g.user_id = of_user and g.graph_id = of_graph);
end $$;
revoke execute on function chunk_contents(text, text, bytea, int) from public;
grant execute on function chunk_contents(text, text, bytea, int) to sextant_app;

-- The nearest chunks and what results show of them: the octets of the former, the former, the latter.
create function nearest_chunk_contents(of_user text, of_graph text, question vector, wanted int, width int)
returns bytea language plpgsql stable
set search_path from current
as $$
declare
  near bytea := coalesce(nearest_chunks(of_user, of_graph, question, wanted, width), '');
begin
  return int4send(octet_length(near)) || near || coalesce(chunk_contents(of_user, of_graph, near, 24), '');
end $$;
revoke execute on function nearest_chunk_contents(text, text, vector, int, int) from public;
grant execute on function nearest_chunk_contents(text, text, vector, int, int) to sextant_app;

-- Entities by id, in that order; one that was merged is the one it was merged into.
create function entity_contents(of_user text, of_graph text, ids uuid[]) returns bytea
language plpgsql stable
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
begin
  perform bind_tenant(of_user);
  return (
    select convert_to(json_agg(result order by wanted.place)::text, 'UTF8')
    from (
      select g.scope_id, coalesce(m.root_id, asked.id) as id, min(asked.place) as place
      from graphs g cross join unnest(ids) with ordinality as asked(id, place)
      left join entity_merges m on m.scope_id = g.scope_id and m.from_id = asked.id
      where g.user_id = of_user and g.graph_id = of_graph group by 1, 2
    ) as wanted cross join lateral (
      select e.id, e.name, e.entity_type, e.description, e.degree, e.mention_count, e.external_id,
        e.aliases
      from seen_entities e where e.scope_id = wanted.scope_id and e.id = wanted.id offset 0
    ) as result);
end $$;
revoke execute on function entity_contents(text, text, uuid[]) from public;
grant execute on function entity_contents(text, text, uuid[]) to sextant_app;
