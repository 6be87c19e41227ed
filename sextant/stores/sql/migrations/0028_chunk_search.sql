-- Each lane of a chunk search is one function that answers with one value, so that both lanes go in
-- one statement and one round trip, without a transaction to begin, a tenant to set and a plan to make.
--
-- They run as the owner and look the knowledge base up by its user first, as search_grams does; who
-- may call them may set sextant.user_id as well.

-- Rows of the gram index as narrow as they can be: every search goes through those that the index
-- names, and in rows of 1.3 KB each of them was a page of its own (100,000 chunks: 126 MB, now 10 MB).
-- PostgreSQL moves values out of a row of more than 2 KB only, so grams are made long enough by
-- repeating the last one; compressed, that costs nothing, and the index has every gram once.
create function padded_grams(grams int[]) returns int[] language sql immutable parallel safe as $$
  select case when cardinality(grams) between 1 and 499
    then grams || array_fill(grams[cardinality(grams)], array[500 - cardinality(grams)])
    else grams end
$$;
revoke execute on function padded_grams(int[]) from public;
grant execute on function padded_grams(int[]) to sextant_app;
alter table chunk_grams set (toast_tuple_target = 128);
alter table chunk_grams alter column folded set storage external;
alter table chunk_grams alter column grams set storage extended;
alter table chunk_grams alter column grams type int[] using padded_grams(grams);

create policy owner_searches on chunk_vectors for select to current_user using (true);
create policy owner_searches on chunk_vectors_small for select to current_user using (true);

-- The nearest chunks as one value: ids and cosines, row after row, nearest first. Exact in the shared
-- partition; HNSW, which looks at `width` candidates and goes on until enough are found, in one of the
-- scope's own, and where that comes back short, exact there, too. A plan is made once for each connection.
create function nearest_chunks(
  of_user text, of_graph text, question vector, wanted int, width int) returns bytea
language plpgsql stable security definer
set search_path from current
set plan_cache_mode = force_generic_plan
as $$
declare
  own record;
  near bytea;
begin
  select scope_id, partition_key into own from graphs
  where user_id = of_user and graph_id = of_graph;
  if not found then
    return null;
  end if;
  if own.partition_key = 0 then
    select string_agg(uuid_send(chunk_id) || float8send(1 - distance), '' order by distance, chunk_id)
    into near from (
      select chunk_id, embedding <=> question as distance from chunk_vectors_small
      where partition_key = 0 and scope_id = own.scope_id
      order by embedding <=> question limit wanted
    ) as found;
    return near;
  end if;
  perform set_config('hnsw.ef_search', width::text, true),
    set_config('hnsw.iterative_scan', 'strict_order', true);
  select string_agg(uuid_send(chunk_id) || float8send(1 - distance), '' order by distance, chunk_id)
  into near from (
    select chunk_id, embedding <=> question as distance from chunk_vectors
    where partition_key = own.partition_key and scope_id = own.scope_id
    order by embedding <=> question limit wanted
  ) as found;
  if octet_length(near) < 24 * wanted then
    select string_agg(uuid_send(chunk_id) || float8send(1 - distance), '' order by distance, chunk_id)
    into near from (
      select chunk_id, (embedding <=> question) + 0 as distance from chunk_vectors
      where partition_key = own.partition_key and scope_id = own.scope_id
      order by 2 limit wanted
    ) as found;
  end if;
  return near;
end $$;
revoke execute on function nearest_chunks(text, text, vector, int, int) from public;
grant execute on function nearest_chunks(text, text, vector, int, int) to sextant_app;

-- The chunks that may hold the most of some words, with their folded texts, as one value: id, number of
-- words, density (octets of the words ÷ octets of the text) and length before each text, best first.
--
-- What the gram index names is a superset of what holds a word, so number and density are bounds, and
-- mostly exact; whoever asks looks into the texts and asks for more when the rest could still be
-- better (the threshold algorithm of Fagin, Lotem and Naor, "Optimal aggregation algorithms for
-- middleware", 2003, over one list). word_hashes[i] is an array of a word's unsalted grams, of octets[i];
-- the words after those, too short for a gram, are looked for in every text of the scope.
--
-- Fences (offset 0), + 0 and switches keep the planner from reading a whole scope by its primary key.
create function named_chunks(
  of_user text, of_graph text, word_hashes text[], octets int[], short_words text[], wanted int)
returns bytea language plpgsql stable security definer
set search_path from current
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  own_scope int;
  salt int;
  named bytea;
begin
  select scope_id, (scope_id & 131071) << 15 into own_scope, salt
  from graphs where user_id = of_user and graph_id = of_graph;
  if not found then
    return null;
  end if;
  select string_agg(uuid_send(best.chunk_id) || int4send(best.matched::int)
    || float8send(best.density) || int4send(octet_length(entry.folded)) || textsend(entry.folded), ''
    order by best.matched desc, best.density desc, best.chunk_id)
  into named from (
    select chunk_id, count(*) as matched, sum(size)::float8 / greatest(1, min(whole)) as density
    from (
      select e.chunk_id, w.octets as size, octet_length(e.folded) as whole
      from unnest(word_hashes, octets) as w(hashes, octets)
      cross join lateral (
        select array_agg(hash | salt) as grams from unnest(w.hashes::int[]) as hash offset 0
      ) as salted
      join chunk_grams e on e.grams @> salted.grams
      where e.scope_id + 0 = own_scope
      union all
      select e.chunk_id, octet_length(word), octet_length(e.folded)
      from unnest(short_words) as word
      cross join lateral (
        select chunk_id, folded from chunk_grams
        where scope_id = own_scope and strpos(folded, word collate "C") > 0 offset 0
      ) as e
    ) as one group by chunk_id order by 2 desc, 3 desc, 1 limit wanted
  ) as best cross join lateral (
    select folded from chunk_grams where scope_id = own_scope and chunk_id = best.chunk_id offset 0
  ) as entry;
  return named;
end $$;
revoke execute on function named_chunks(text, text, text[], int[], text[], int) from public;
grant execute on function named_chunks(text, text, text[], int[], text[], int) to sextant_app;
drop function search_words(int, text[], int[], int[], int);
