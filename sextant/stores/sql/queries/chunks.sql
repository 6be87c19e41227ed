-- name: incoming
-- The target of COPY, which cannot write to a table under row-level security. Created once per connection; rows are
-- neither compressed nor stored out of line.
do $$ begin
  if to_regclass('pg_temp.incoming') is null then
    create temporary table incoming (
      document_id uuid, id uuid, section_id uuid, ordinal int, start_offset int, end_offset int, text text, page int,
      section_path text[], modality text, context text, token_count int, title text, summary text,
      tags text[], topics text[], keywords text[], entities text[], topic_labels text[],
      neighbours uuid[], external_id text, created_at timestamptz,
      embedding vector, folded text, grams int[]
    ) with (toast_tuple_target = 8160) on commit delete rows;
  end if;
end $$;

-- name: relax
-- A batch need not wait for the disk: after a crash the job stores it again, and publishing waits for all. The gram
-- index collects 16 MB in memory before it sorts them in, which is a third cheaper than 4 MB; publishing sorts in
-- the rest.
select set_config('synchronous_commit', 'off', true),
  set_config('gin_pending_list_limit', '16MB', true), set_config('work_mem', '64MB', true);

-- name: copy_incoming
-- Copy one batch, binary.
copy incoming from stdin (format binary);

-- name: add_chunks
-- Store a batch of one or several documents: text, vector and grams become searchable together. Existing chunks
-- stay.
with fresh as (
  insert into chunks (scope_id, id, user_id, document_id, section_id, ordinal, start_offset,
    end_offset, text, page, section_path, modality, context, token_count, title, summary, tags,
    topics, keywords, entities, topic_labels, neighbours, external_id, created_at)
  select %(scope_id)s, id, %(user_id)s, document_id, section_id, ordinal, start_offset,
    end_offset, text, page, section_path, modality, context, token_count, title, summary, tags,
    topics, keywords, entities, topic_labels, neighbours, external_id, coalesce(created_at, now())
  from incoming on conflict do nothing returning id, document_id
), vectors as (
  insert into chunk_vectors (partition_key, scope_id, chunk_id, user_id, embedding)
  select %(partition_key)s, %(scope_id)s, id, %(user_id)s, embedding
  from incoming join fresh using (id, document_id)
  returning chunk_id
), entries as (
  insert into chunk_grams (scope_id, chunk_id, user_id, folded, grams)
  select %(scope_id)s, id, %(user_id)s, folded, padded_grams(grams) from incoming join fresh using (id, document_id)
  returning chunk_id
), added as (
  -- Joined with all three, so that the document's row is locked last and other batches wait for nothing.
  select document_id, count(*) as number
  from fresh join vectors on vectors.chunk_id = id join entries on entries.chunk_id = id
  group by document_id
)
update documents d set chunk_count = chunk_count + added.number from added
where d.scope_id = %(scope_id)s and d.id = added.document_id;

-- name: stage_chunks
-- Store a batch of a replacement, hidden until its version is published.
insert into staged_chunks (scope_id, id, user_id, document_id, section_id, ordinal, start_offset,
  end_offset, text, page, section_path, modality, context, token_count, title, summary, tags,
  topics, keywords, entities, topic_labels, neighbours, external_id, created_at,
  embedding, folded, grams)
select %(scope_id)s, id, %(user_id)s, %(document_id)s, section_id, ordinal, start_offset,
  end_offset, text, page, section_path, modality, context, token_count, title, summary, tags,
  topics, keywords, entities, topic_labels, neighbours, external_id, coalesce(created_at, now()),
  embedding, folded, grams
from incoming on conflict do nothing;

-- name: remove_chunks
-- Delete all live chunks of a document, with their vectors and grams.
with gone as (
  delete from chunks where scope_id = %(scope_id)s and document_id = %(document_id)s returning id
), vectors as (
  delete from chunk_vectors where partition_key = %(partition_key)s and scope_id = %(scope_id)s
    and chunk_id in (select id from gone)
)
delete from chunk_grams where scope_id = %(scope_id)s and chunk_id in (select id from gone);

-- name: release_staged
-- Make all staged chunks searchable.
with released as (
  delete from staged_chunks where scope_id = %(scope_id)s and document_id = %(document_id)s
  returning *
), texts as (
  insert into chunks (scope_id, id, user_id, document_id, section_id, ordinal, start_offset,
    end_offset, text, page, section_path, modality, context, token_count, title, summary, tags,
    topics, keywords, entities, topic_labels, neighbours, external_id, created_at)
  select scope_id, id, user_id, document_id, section_id, ordinal, start_offset,
    end_offset, text, page, section_path, modality, context, token_count, title, summary, tags,
    topics, keywords, entities, topic_labels, neighbours, external_id, created_at
  from released
), vectors as (
  insert into chunk_vectors (partition_key, scope_id, chunk_id, user_id, embedding)
  select %(partition_key)s, scope_id, id, user_id, embedding from released
)
insert into chunk_grams (scope_id, chunk_id, user_id, folded, grams)
select scope_id, id, user_id, folded, padded_grams(grams) from released;

-- name: stored_ids
-- The chunks of a document that are stored already, searchable or staged.
select id from chunks
where %(first)s and scope_id = %(scope_id)s and document_id = %(document_id)s
union all
select id from staged_chunks
where not %(first)s and scope_id = %(scope_id)s and document_id = %(document_id)s;

-- name: forget_live
-- Delete chunks of a first version that an earlier attempt stored and this one does not have.
with gone as (
  delete from chunks where scope_id = %(scope_id)s and document_id = %(document_id)s
    and id = any(%(ids)s) returning id
), vectors as (
  delete from chunk_vectors where partition_key = %(partition_key)s and scope_id = %(scope_id)s
    and chunk_id in (select id from gone)
)
delete from chunk_grams where scope_id = %(scope_id)s and chunk_id in (select id from gone);

-- name: forget_staged
-- Delete such chunks of a replacement.
delete from staged_chunks
where scope_id = %(scope_id)s and document_id = %(document_id)s and id = any(%(ids)s);

-- name: nearest
-- The nearest chunks by cosine; see nearest_chunks.
nearest_chunks(%s, %s, %s::vector, %s, %s)

-- name: held
-- The chunks that contain the most of some words; see keyword_matches.
keyword_matches(%s, %s, %s::text[], %s::text[], %s::int[], %s::text[], %s, %s)

-- name: get
-- Chunks by id, in the requested order. `offset 0` makes the planner look them up one by one; otherwise it reads
-- the whole scope for the join.
select c.*
from unnest(%(ids)s::uuid[]) with ordinality as wanted(id, place)
cross join lateral (
  select * from found_chunks where scope_id = %(scope_id)s and id = wanted.id offset 0
) as c
order by wanted.place;

-- name: contents
-- The fields of chunks that results show, by id, in the requested order; looked up as in `get`.
select c.id::text, c.document_id::text, c.external_id, c.text, c.filename, c.document_title, c.source,
  c.section_path, coalesce(nullif(c.title, ''), c.document_title) as title, c.section_id::text, c.page,
  c.start_offset as start, c.end_offset as "end", c.modality, c.ordinal, c.context
from unnest(%(ids)s::uuid[]) with ordinality as wanted(id, place)
cross join lateral (
  select * from found_chunks where scope_id = %(scope_id)s and id = wanted.id offset 0
) as c
order by wanted.place;

-- name: count
-- The number of searchable chunks of a knowledge base.
select count(*) from chunks where scope_id = %(scope_id)s;

-- name: documents
-- The documents, each with a text that changes whenever its searchable chunks do.
select id, concat_ws(' ', live_version, pending_version, chunk_count, updated_at) as state
from documents where scope_id = %(scope_id)s;

-- name: passages
-- The chunks of some documents for an index in memory: titles, table header and text, one a line. The documents are
-- rows, since with an array PostgreSQL sorts all ids again for each document (12 s instead of 0.7 for 98,800 chunks
-- of 7,600 documents).
select c.id, c.document_id, concat_ws(E'\n',
  nullif(array_to_string(case when c.section_path[1] = c.document_title then c.section_path
    else array_prepend(c.document_title, c.section_path) end, ' > '), ''),
  nullif(c.context, ''), c.text) as searched
from found_chunks c
where c.scope_id = %(scope_id)s and c.document_id in (select unnest(%(documents)s::uuid[])) order by c.id;

-- name: vectors
-- The vectors of the chunks of some documents, joined in blocks, since a row for each would take longer.
select string_agg(uuid_send(v.chunk_id) || vector_send(v.embedding), '') as vectors
from chunks c join chunk_vectors v on v.partition_key = %(partition_key)s
  and v.scope_id = c.scope_id and v.chunk_id = c.id
where c.scope_id = %(scope_id)s and c.document_id in (select unnest(%(documents)s::uuid[]))
group by get_byte(uuid_send(c.id), 0);
