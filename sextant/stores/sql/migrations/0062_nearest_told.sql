-- The nearest chunks (nearest_chunks) and what results tell of them (told_chunks) in one trip, as one value:
-- the octets of the former, the former, the latter.
create function nearest_told(of_user text, of_graph text, question vector, wanted int, width int)
returns bytea language plpgsql stable
set search_path from current
as $$
declare
  near bytea := coalesce(nearest_chunks(of_user, of_graph, question, wanted, width), '');
begin
  return int4send(octet_length(near)) || near || coalesce(told_chunks(of_user, of_graph, array(
    select encode(substring(near from 24 * place + 1 for 16), 'hex')::uuid
    from generate_series(0, octet_length(near) / 24 - 1) as place)), '');
end $$;
revoke execute on function nearest_told(text, text, vector, int, int) from public;
grant execute on function nearest_told(text, text, vector, int, int) to sextant_app;
