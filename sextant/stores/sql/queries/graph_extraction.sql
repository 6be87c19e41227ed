-- name: waiting
-- The next passages of live documents that no chat model has read. Passages of generated facts are left out, here
-- and below.
select f.id, f.document_id, f.ordinal, f.document_title, f.section_path, f.text,
  coalesce(x.attempts, 0) as attempts
from found_chunks f
left join extractions x on x.scope_id = f.scope_id and x.chunk_id = f.id
where f.scope_id = %(scope_id)s and (%(document_id)s::uuid is null or f.document_id = %(document_id)s)
  and (f.document_id, f.ordinal) > (%(last_document)s, %(last_ordinal)s)
  and (x.chunk_id is null or x.state = 'failed' and x.attempts < %(attempts)s)
  and f.document_id not in (select id from described_documents where scope_id = %(scope_id)s
    and (%(document_id)s::uuid is null or id = %(document_id)s) and metadata ? 'factsOf')
order by f.document_id, f.ordinal limit %(limit)s;

-- name: done
-- Record that a passage was read, unless it was deleted.
insert into extractions (scope_id, chunk_id, document_id, user_id, state, attempts, input_tokens,
  output_tokens, prompt_version)
select %(scope_id)s, c.id, c.document_id, %(user_id)s, 'done', 1, %(input_tokens)s,
  %(output_tokens)s, %(prompt_version)s
from chunks c where c.scope_id = %(scope_id)s and c.id = %(chunk_id)s
on conflict (scope_id, chunk_id) do update set state = 'done', error_code = null, error = null,
  attempts = extractions.attempts + 1,
  input_tokens = extractions.input_tokens + excluded.input_tokens,
  output_tokens = extractions.output_tokens + excluded.output_tokens,
  prompt_version = excluded.prompt_version, updated_at = now();

-- name: failed
-- Record that a passage could not be read, and why.
insert into extractions (scope_id, chunk_id, document_id, user_id, state, attempts, error_code,
  error, input_tokens, output_tokens, prompt_version)
select %(scope_id)s, c.id, c.document_id, %(user_id)s, 'failed', 1, %(error_code)s, %(error)s,
  %(input_tokens)s, %(output_tokens)s, %(prompt_version)s
from chunks c where c.scope_id = %(scope_id)s and c.id = %(chunk_id)s
on conflict (scope_id, chunk_id) do update set attempts = extractions.attempts + 1,
  error_code = excluded.error_code, error = excluded.error,
  input_tokens = extractions.input_tokens + excluded.input_tokens,
  output_tokens = extractions.output_tokens + excluded.output_tokens,
  prompt_version = excluded.prompt_version, updated_at = now()
where extractions.state = 'failed';

-- name: retry
-- Let passages that failed too often wait again.
update extractions set attempts = 0 where scope_id = %(scope_id)s and state = 'failed';

-- name: counts
-- The numbers of passages by state.
select count(*) filter (where x.state = 'done') as done,
  count(*) filter (where x.state = 'failed') as failed,
  count(*) filter (where x.chunk_id is null) as waiting,
  coalesce(sum(x.input_tokens), 0)::bigint as input_tokens,
  coalesce(sum(x.output_tokens), 0)::bigint as output_tokens
from chunks c left join extractions x on x.scope_id = c.scope_id and x.chunk_id = c.id
where c.scope_id = %(scope_id)s and (%(document_id)s::uuid is null or c.document_id = %(document_id)s)
  and c.document_id not in (select id from described_documents where scope_id = %(scope_id)s
    and (%(document_id)s::uuid is null or id = %(document_id)s) and metadata ? 'factsOf');

-- name: failures
-- The failures, most frequent first.
select error_code, min(error) as error, count(*) as times from extractions
where scope_id = %(scope_id)s and state = 'failed'
  and (%(document_id)s::uuid is null or document_id = %(document_id)s)
group by error_code order by count(*) desc, error_code;
