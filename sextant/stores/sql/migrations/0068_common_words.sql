-- Common words are read only in chunks that hold another word of the question. In a large scope nearly all of
-- what the gram index names are chunks of one common word, none of which is among the best as soon as enough
-- hold two; reading, grouping and ordering them took most of the keyword lane where it was slowest
-- (docs/performance.md, "Chunk search of many tenants").

-- The grams (without salt) that ten of a thousand chunks of a large scope have, and which of these chunks do: so
-- how many hold a word of several grams can be told. They may be old: they decide what is read first, never
-- what is found.
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

-- How many chunks the scope had when its grams were counted; 0: they were not.
alter table graphs add column counted_chunks int not null default 0;

-- Counts the grams of a scope that has its own partition, when that has doubled since. How many chunks there
-- are is known from its statistics (refresh_statistics).
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

-- The first chunks by id are a sample, for ids are random.
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
revoke execute on function count_grams(int), sample_grams(int) from public;
grant execute on function count_grams(int) to sextant_app;

select sample_grams(scope_id) from graphs where partition_key <> 0;
update graphs g set counted_chunks = greatest(0, c.reltuples) from pg_class c
where g.partition_key <> 0 and c.oid = to_regclass('chunk_vectors_' || g.scope_id);

-- As before (0057), and what was too shallow goes on here, not at the client's.
--
-- A word is common when ten of the sample hold all of its grams. Such a word's chunks are named only where they
-- have the rarest gram of another word as well, so chunks that hold two words are named by each of theirs, and
-- chunks of one word, some of which are missing, are left out. Found are the same when `wanted` of those that are left hold
-- all that was named; otherwise all is read, so it is tried only where two and a half times as many should hold
-- two words: as many as if words had nothing to do with each other, a word that is not common being in two of a
-- thousand chunks (of 100 questions of large tenants, those expected to have 50 had 24 or more).
create or replace function held_chunks(of_user text, of_graph text, words text[], word_hashes text[], octets int[],
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
  from graphs where user_id = of_user and graph_id = of_graph;
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
