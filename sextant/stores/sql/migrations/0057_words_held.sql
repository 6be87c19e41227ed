-- The chunks that hold the most of some words, as one value: id, how many they hold, and the density of
-- these (octets of the words ÷ octets of the text). As named_chunks (0028), which this is instead of,
-- chunks are put in order by what the gram index names, a superset of what they hold, and texts are looked
-- into; but here and not at the client's, so no text leaves the server, and how deep need not be guessed.
--
-- Number and density by the index are bounds. So when `wanted` chunks hold all that was named, nothing
-- after them is better, and no further text is read: the window's count only grows, which ends its scan.
-- Whoever asks puts the chunks looked into in order; as many of them as `looked`: the next could be better.
-- word_hashes[i] is an array of a word's unsalted grams, of octets[i]; short_words have none, and are
-- looked for in every text of the scope; words are all of them.
--
-- Fences (offset 0), + 0 and switches keep the planner from reading a whole scope by its primary key.
create function held_chunks(of_user text, of_graph text, words text[], word_hashes text[], octets int[],
  short_words text[], looked int, wanted int)
returns bytea language plpgsql stable security definer
set search_path from current
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_memoize = off
as $$
declare
  own_scope int;
  salt int;
  tried bytea;
begin
  select scope_id, (scope_id & 131071) << 15 into own_scope, salt
  from graphs where user_id = of_user and graph_id = of_graph;
  if not found then
    return null;
  end if;
  select string_agg(uuid_send(chunk_id) || int4send(held::int) || float8send(density), '')
  into tried from (
    select best.chunk_id, held.number as held,
      coalesce(held.size, 0)::float8 / greatest(1, octet_length(entry.folded)) as density,
      count(case when held.number = best.matched then 1 end) over before as whole
    from (
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
      ) as one group by chunk_id order by 2 desc, 3 desc, 1 limit looked
    ) as best
    cross join lateral (
      -- Joined to nothing, so that it is read from where long values are once, not once for each word.
      select folded || '' as folded from chunk_grams
      where scope_id = own_scope and chunk_id = best.chunk_id offset 0
    ) as entry
    cross join lateral (
      select count(*) as number, sum(octet_length(word)) as size from unnest(words) as word
      where strpos(entry.folded, word collate "C") > 0
    ) as held
    window before as (order by best.matched desc, best.density desc, best.chunk_id
      rows between unbounded preceding and 1 preceding)
  ) as looked_into where whole < wanted;
  return tried;
end $$;
revoke execute on function held_chunks(text, text, text[], text[], int[], text[], int, int) from public;
grant execute on function held_chunks(text, text, text[], text[], int[], text[], int, int) to sextant_app;
drop function named_chunks(text, text, text[], int[], text[], int);
