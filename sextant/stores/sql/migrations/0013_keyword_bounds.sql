-- The keyword lane without looking into texts that cannot be among the best.
--
-- search_grams looks for a word in every text that the gram index names for it, and a common word of a
-- large knowledge base is named for most of its texts. But what the index says bounds what a text can
-- hold (a text that holds a word is named for it), and so do the words' lengths and the text's its
-- density. So texts are ordered by their bounds and looked into from the top, until the last one wanted
-- is better than anything that the rest can hold: the threshold algorithm of Fagin, Lotem and Naor,
-- "Optimal aggregation algorithms for middleware", 2003, over one list. The result is the same, ties
-- and all.
--
-- Fences (offset 0) and switches keep the planner from reading a whole scope by its primary key; the
-- plan does not depend on the values, and making it took as long as a search of a small scope.

create function search_words(
  wanted_scope int, words text[], gram_words int[], gram_values int[], wanted int)
returns table (chunk_id uuid, matched bigint, density float8)
language plpgsql stable security definer
set search_path from current
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  looked int := 44 + 2 * wanted;  -- a gram's hash names some texts wrongly, so more than are wanted
  ids uuid[];
  counts bigint[];
  densities float8[];
  certain boolean;
begin
  if not exists (select from graphs where scope_id = wanted_scope
      and user_id = nullif(current_setting('sextant.user_id', true), '')) then
    return;
  end if;
  if cardinality(words) > 62 then  -- more than a bigint has bits for
    return query select * from search_grams(wanted_scope, words, gram_words, gram_values);
    return;
  end if;
  loop
    with word_grams as (
      select pair.word, array_agg(pair.gram) as grams
      from unnest(gram_words, gram_values) as pair(word, gram) group by pair.word
    ), asked as materialized (
      select 1::bigint << listed.place::int as bit, listed.word collate "C" as word,
        octet_length(listed.word) as octets, word_grams.grams
      from unnest(words) with ordinality as listed(word, place)
      left join word_grams on word_grams.word = listed.place
    ), bounds as materialized (
      select named.chunk_id, bit_or(named.bit) as bits, count(*) as matched,
        sum(named.octets)::float8 / greatest(1, min(named.size)) as density
      from (
        select entry.chunk_id, octet_length(entry.folded) as size, asked.bit, asked.octets
        from asked join chunk_grams entry on entry.grams @> asked.grams
        where asked.grams is not null and entry.scope_id + 0 = wanted_scope
        union all
        select entry.chunk_id, octet_length(entry.folded), asked.bit, asked.octets
        from asked join chunk_grams entry on entry.scope_id = wanted_scope
        where asked.grams is null and strpos(entry.folded, asked.word) > 0
      ) as named
      group by named.chunk_id order by 3 desc, 4 desc, 1 limit looked + 1
    ), ranked as materialized (
      select bounds.*, row_number() over () as rank from bounds
    ), held as (
      select ranked.chunk_id, count(*) as matched,
        sum(asked.octets)::float8 / greatest(1, min(octet_length(entry.folded))) as density
      from ranked
      cross join lateral (
        select found.folded from chunk_grams found
        where found.scope_id = wanted_scope and found.chunk_id = ranked.chunk_id offset 0
      ) as entry
      join asked on asked.bit & ranked.bits <> 0
      where ranked.rank <= looked and strpos(entry.folded, asked.word) > 0
      group by ranked.chunk_id
    ), best as materialized (
      select * from held order by held.matched desc, held.density desc, held.chunk_id limit wanted
    ), worst as (
      select * from best order by best.matched, best.density, best.chunk_id desc limit 1
    )
    select array_agg(best.chunk_id), array_agg(best.matched), array_agg(best.density),
      not exists (
        select from ranked where ranked.rank > looked and (
          (select count(*) from best) < wanted
          or exists (
            select from worst
            where (ranked.matched, ranked.density) > (worst.matched, worst.density)
              or (ranked.matched, ranked.density) = (worst.matched, worst.density)
                and ranked.chunk_id < worst.chunk_id)))
    into ids, counts, densities, certain from best;
    exit when certain;
    looked := looked * 8;
  end loop;
  return query select * from unnest(ids, counts, densities);
end $$;
revoke execute on function search_words(int, text[], int[], int[], int) from public;
grant execute on function search_words(int, text[], int[], int[], int) to sextant_app;
