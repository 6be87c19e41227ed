-- The keyword lane: an index of character n-grams, whose superset is checked against the texts.
--
-- A gram is an int: 17 bits of the number of the knowledge base (the salt) and 15 bits of the n-gram's hash
-- (stores/chunks/grams.py computes the same). So one GIN index serves all tenants, and a search of one reads
-- postings of few others; grams that coincide only make the superset larger. Most of what an insert costs is the
-- number of different keys, which is why a gram has few bits.
--
-- The functions run as the owner, because row-level security keeps the planner from the index, and check the
-- tenant first. `+ 0` and the planner's switches keep it from reading a whole knowledge base by its primary key,
-- which it would while it has no statistics of a new one.

-- folded: the searched text in lower case. Every search reads the rows that the index names, so rows are narrow:
-- with the text in the row each was a page of its own. PostgreSQL moves values out of a row only above 2 KB,
-- which padded_grams sees to.
create table chunk_grams (
  scope_id int not null,
  chunk_id uuid not null,
  user_id text not null,
  folded text collate "C" not null,
  grams int[] not null,
  primary key (scope_id, chunk_id)
) with (toast_tuple_target = 128);
alter table chunk_grams alter column folded set storage external;
create index chunk_grams_grams on chunk_grams using gin (grams);
select tenant_table('chunk_grams');
grant select, insert, update, delete on chunk_grams to sextant_app;
create policy owner_searches on chunk_grams for select to current_user using (true);

-- Grams made so many, by repeating the last, that PostgreSQL stores them out of the row; compressed they cost
-- nothing, and the index has every gram once.
create function padded_grams(grams int[]) returns int[] language sql immutable parallel safe as $$
  select case when cardinality(grams) between 1 and 499
    then grams || array_fill(grams[cardinality(grams)], array[500 - cardinality(grams)])
    else grams end
$$;
revoke execute on function padded_grams(int[]) from public;
grant execute on function padded_grams(int[]) to sextant_app;

-- What is inserted into a GIN index waits in a list that every search reads (8 ms when it is full); sorting in
-- many entries at once costs a third of sorting them in one by one. Called after a document is stored.
create function tidy_gram_index() returns void language sql security definer
set search_path from current
as $$ select gin_clean_pending_list('chunk_grams_grams') $$;
revoke execute on function tidy_gram_index() from public;
grant execute on function tidy_gram_index() to sextant_app;

-- All chunks that contain some of the words, with how many, and the density of these (octets of the words ÷ octets
-- of the text). words[i] has the grams that gram_words pairs with i; a word without grams (shorter than an n-gram)
-- is looked for in every text. octet_length is known without reading a text, where length took half of the time.
create function search_grams(wanted_scope int, words text[], gram_words int[], gram_values int[])
returns table (chunk_id uuid, matched bigint, density float8)
language plpgsql stable security definer
set search_path from current
set plan_cache_mode = force_custom_plan
set enable_seqscan = off
set enable_sort = off
as $$
begin
  if not exists (select from graphs where scope_id = wanted_scope
      and user_id = nullif(current_setting('sextant.user_id', true), '')) then
    return;
  end if;
  return query
  with word_grams as (
    select pair.word, array_agg(pair.gram) as grams
    from unnest(gram_words, gram_values) as pair(word, gram) group by pair.word
  ), wanted as materialized (
    select listed.word collate "C" as word, word_grams.grams
    from unnest(words) with ordinality as listed(word, place)
    left join word_grams on word_grams.word = listed.place
  ), hits as (
    select entry.chunk_id, wanted.word, octet_length(entry.folded) as size
    from wanted join chunk_grams entry on entry.grams @> wanted.grams
    where wanted.grams is not null and entry.scope_id + 0 = wanted_scope
      and strpos(entry.folded, wanted.word) > 0
    union all
    select entry.chunk_id, wanted.word, octet_length(entry.folded)
    from wanted join chunk_grams entry on entry.scope_id = wanted_scope
    where wanted.grams is null and strpos(entry.folded, wanted.word) > 0
  )
  select hits.chunk_id, count(*), sum(octet_length(hits.word))::float8 / greatest(1, min(hits.size))
  from hits group by hits.chunk_id;
end $$;
revoke execute on function search_grams(int, text[], int[], int[]) from public;
grant execute on function search_grams(int, text[], int[], int[]) to sextant_app;

-- The grams (without salt) that ten of a thousand sampled chunks of a large knowledge base have, and which of the
-- sample do, so that it is known how many contain a word of several grams. They may be outdated: they decide what
-- is read first, never what is found.
create table common_grams (
  scope_id int not null references graphs on delete cascade,
  user_id text not null,
  gram int not null,
  sample bit(1000) not null,
  primary key (scope_id, gram)
);
select tenant_table('common_grams');
grant select, delete on common_grams to sextant_app;
create policy owner_counts on common_grams to current_user using (true);

-- Samples the grams of a knowledge base: ids are random, so the first chunks by id are a sample.
create function sample_grams(of_scope int) returns void language sql
set search_path from current
as $$
  delete from common_grams where scope_id = of_scope;
  insert into common_grams (scope_id, user_id, gram, sample)
  select of_scope, g.user_id, common.gram, held.sample
  from graphs g cross join (
    select gram, array_agg(place) as places
    from (
      select grams, (row_number() over ())::int - 1 as place
      from (select grams from chunk_grams where scope_id = of_scope order by chunk_id limit 1000) as one
    ) as sampled
    cross join lateral (select distinct salted & 32767 as gram from unnest(grams) as salted) as one
    group by gram having count(*) >= 10
  ) as common
  cross join lateral (
    select bit_or(set_bit(B'0'::bit(1000), place, 1)) as sample from unnest(common.places) as place
  ) as held
  where g.scope_id = of_scope;
$$;
revoke execute on function sample_grams(int) from public;

-- Samples the grams of a knowledge base that has a partition of its own, when that has doubled since. How many
-- chunks it has is known from its statistics (refresh_statistics).
create function count_grams(grown_scope int) returns void language plpgsql security definer
set search_path from current
as $$
begin
  update graphs g set counted_chunks = c.reltuples from pg_class c
  where g.scope_id = grown_scope and g.partition_key <> 0
    and g.user_id = nullif(current_setting('sextant.user_id', true), '')
    and c.oid = to_regclass('chunk_vectors_' || grown_scope)
    and c.reltuples >= greatest(1, 2 * g.counted_chunks);
  if found then
    perform sample_grams(grown_scope);
  end if;
end $$;
revoke execute on function count_grams(int) from public;
grant execute on function count_grams(int) to sextant_app;

-- The chunks that contain the most of some words, as one value: id, number of words and density, for each.
--
-- Chunks are ordered by what the index names, an upper bound of number and density, and their texts are read in
-- that order. As soon as `wanted` of them contain all that was named, no later one is better, and no further text
-- is read: the threshold algorithm of Fagin, Lotem and Naor, "Optimal aggregation algorithms for middleware",
-- 2003, over one list. The window's count only grows, which ends its scan. The caller sorts what was read.
-- word_hashes[i] is an array of a word's grams without salt, of octets[i]; short_words have none, and are looked
-- for in every text; words are all of them. `looked`: how many chunks are read at first.
--
-- In a large knowledge base nearly all that the index names are chunks of one common word, none of which is among
-- the best as soon as enough contain two words. A word is common when ten of the sample have all of its grams. Its
-- chunks are read only where they have the rarest gram of another word as well; chunks of a single word are left
-- out. The result is the same when `wanted` of those that remain contain all that was named; otherwise all are
-- read. So it is tried only where two and a half times as many are expected to contain two words, as if words
-- were independent and a word that is not common were in two of a thousand chunks.
create function keyword_matches(of_user text, of_graph text, words text[], word_hashes text[], octets int[],
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
  chunks int;
  -- Words by their grams, with their octets: those read everywhere, and those read beside one of some grams.
  hashes text[] := word_hashes;
  sizes int[] := octets;
  common_hashes text[];
  common_sizes int[];
  beside text[];
  tried bytea;
  tries int;
  proven int;
begin
  select scope_id, (scope_id & 131071) << 15, counted_chunks into own_scope, salt, chunks
  from graphs where of_user = current_tenant() and user_id = of_user and graph_id = of_graph;
  if not found then
    return null;
  end if;
  if chunks > 0 and short_words is null then
    with told as materialized (
      select w.place, w.hashes, w.size, gram.often, gram.rarest
      from unnest(word_hashes, octets) with ordinality as w(hashes, size, place)
      cross join lateral (
        select case when count(sample) = count(*) then greatest(2, bit_count(bit_and(sample))) else 2 end as often,
          (min(coalesce(bit_count(sample), 0) << 15 | hash) & 32767)::int | salt as rarest
        from unnest(w.hashes::int[]) as hash left join common_grams on scope_id = own_scope and gram = hash
      ) as gram
    )
    select array_agg(one.hashes) filter (where often < 10), array_agg(size) filter (where often < 10),
      array_agg(one.hashes) filter (where often >= 10), array_agg(size) filter (where often >= 10),
      array_agg((select array_agg(rarest) from told where place <> one.place)::text) filter (where often >= 10)
    into hashes, sizes, common_hashes, common_sizes, beside from told as one
    having chunks * (sum(often) ^ 2 - sum(often ^ 2)) / 2e6 >= 2.5 * wanted;
    if not found then
      hashes := word_hashes;
      sizes := octets;
    end if;
  end if;
  loop
    select string_agg(uuid_send(chunk_id) || int4send(held) || float8send(density), ''), count(*),
      count(case when held = matched then 1 end)
    into tried, tries, proven from (
      select best.chunk_id, best.matched, held.number as held,
        coalesce(held.size, 0)::float8 / greatest(1, octet_length(entry.folded)) as density,
        count(case when held.number = best.matched then 1 end) over before as whole
      from (
        select chunk_id, count(*) as matched, sum(size)::float8 / greatest(1, min(whole)) as density
        from (
          select e.chunk_id, w.size, octet_length(e.folded) as whole
          from unnest(hashes, sizes) as w(hashes, size)
          cross join lateral (
            select array_agg(hash | salt) as grams from unnest(w.hashes::int[]) as hash offset 0
          ) as salted
          join chunk_grams e on e.grams @> salted.grams
          where e.scope_id + 0 = own_scope
          union all
          select e.chunk_id, w.size, octet_length(e.folded)
          from unnest(common_hashes, common_sizes, beside) as w(hashes, size, beside)
          cross join lateral (
            select array_agg(hash | salt) as grams from unnest(w.hashes::int[]) as hash offset 0
          ) as salted
          join chunk_grams e on e.grams @> salted.grams and e.grams && w.beside::int[]
          where e.scope_id + 0 = own_scope
          union all
          select e.chunk_id, octet_length(word), octet_length(e.folded)
          from unnest(short_words) as word
          cross join lateral (
            select chunk_id, folded from chunk_grams
            where scope_id = own_scope and strpos(folded, word collate "C") > 0 offset 0
          ) as e
        ) as one group by chunk_id having count(*) > case when common_hashes is null then 0 else 1 end
        order by 2 desc, 3 desc, 1 limit looked
      ) as best
      cross join lateral (
        -- Joined to nothing, so that it is read from where long values are once, not once for each word.
        select folded || '' as folded from chunk_grams
        where scope_id = own_scope and chunk_id = best.chunk_id offset 0
      ) as entry
      cross join lateral (
        select count(*)::int as number, sum(octet_length(word)) as size from unnest(words) as word
        where strpos(entry.folded, word collate "C") > 0
      ) as held
      window before as (order by best.matched desc, best.density desc, best.chunk_id
        rows between unbounded preceding and 1 preceding)
    ) as looked_into where whole < wanted;
    if proven >= wanted or tries < looked and common_hashes is null then
      return tried;
    elsif tries = looked then
      looked := looked * 8;
    else
      hashes := word_hashes;
      sizes := octets;
      common_hashes := null;
    end if;
  end loop;
end $$;
revoke execute on function keyword_matches(text, text, text[], text[], int[], text[], int, int) from public;
grant execute on function keyword_matches(text, text, text[], text[], int[], text[], int, int) to sextant_app;
