-- What results tell of chunks (told_chunks, 0034), by ids that stand in one value, `apart` octets from each other:
-- nearest_told (0062) hands on what nearest_chunks gave it, instead of an array made of that.
create function told_chunks(of_user text, of_graph text, ids bytea, apart int) returns bytea
language plpgsql stable
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
begin
  perform set_config('sextant.user_id', of_user, true);
  return (
    select convert_to(json_agg(told order by place)::text, 'UTF8')
    from graphs g cross join generate_series(0, octet_length(ids) / apart - 1) as place
    cross join lateral (
      select c.id, c.document_id, c.external_id, c.text, c.filename, c.document_title, c.source,
        c.section_path, coalesce(nullif(c.title, ''), c.document_title) as title, c.section_id, c.page,
        c.start_offset as start, c.end_offset as "end", c.modality, c.ordinal, c.context
      from found_chunks c
      where c.scope_id = g.scope_id and c.id = encode(substring(ids from apart * place + 1 for 16), 'hex')::uuid
      offset 0
    ) as told
    where g.user_id = of_user and g.graph_id = of_graph);
end $$;
revoke execute on function told_chunks(text, text, bytea, int) from public;
grant execute on function told_chunks(text, text, bytea, int) to sextant_app;

create or replace function nearest_told(of_user text, of_graph text, question vector, wanted int, width int)
returns bytea language plpgsql stable
set search_path from current
as $$
declare
  near bytea := coalesce(nearest_chunks(of_user, of_graph, question, wanted, width), '');
begin
  return int4send(octet_length(near)) || near || coalesce(told_chunks(of_user, of_graph, near, 24), '');
end $$;
drop function told_chunks(text, text, uuid[]);
