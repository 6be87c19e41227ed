-- name: dirty
-- Communities that have changed since their report was written.
select id from communities where scope_id = %(scope_id)s and dirty order by level desc, id;

-- name: write
-- Store a report; it is clean unless the graph has changed since it was read. The vector stays as long as the text.
update communities c set title = %(title)s, summary = %(summary)s, findings = %(findings)s,
  rating = %(rating)s, writer = %(writer)s, note = %(note)s, evidence = %(hash)s,
  told = %(told)s::uuid[], sources = %(sources)s::uuid[], updated_at = now(),
  dirty = not exists (select from graph_versions v
    where v.scope_id = c.scope_id and v.version = %(version)s),
  embedding = case when (c.title, c.summary) = (%(title)s, %(summary)s) then c.embedding end
where c.scope_id = %(scope_id)s and c.id = %(id)s;

-- name: settle
-- Mark reports as clean that need not be written again, unless the graph has changed since it was read.
update communities set dirty = false
where scope_id = %(scope_id)s and id = any(%(ids)s) and exists (select from graph_versions v
  where v.scope_id = communities.scope_id and v.version = %(version)s);

-- name: known
-- The writer of each report, hashes of its evidence, and the passages that it cites.
select c.id, c.writer, c.evidence, array(
    select distinct chunk::uuid from jsonb_array_elements(c.findings) as finding,
      jsonb_array_elements_text(finding -> 'chunk_ids') as chunk) as cited,
  c.told as content, c.sources
from communities c
where c.scope_id = %(scope_id)s and c.id = any(%(ids)s::uuid[]) and c.evidence is not null;

-- name: parts
-- The reports of the children of communities, best first.
select parent_id, id, title, summary, findings, rating, writer, note, evidence from communities
where scope_id = %(scope_id)s and parent_id = any(%(ids)s::uuid[]) and title <> ''
order by rating desc, id;

-- name: origin
-- The writer of a report.
select writer, note from communities where scope_id = %(scope_id)s and id = %(id)s;

-- name: reopen
-- Mark the reports of other writers as dirty.
update communities set dirty = true
where scope_id = %(scope_id)s and not dirty and writer <> %(writer)s;

-- name: to_embed
-- Reports without a vector.
select id, title || E'\n' || summary as text from communities
where scope_id = %(scope_id)s and embedding is null and title || summary <> ''
order by id limit %(limit)s;

-- name: add_vector
-- Store the vector of a report, unless the report was written again meanwhile.
update communities set embedding = %(vector)s
where scope_id = %(scope_id)s and id = %(id)s and title || E'\n' || summary = %(text)s;

-- name: note_projection
-- Note communities for a graph database, if one follows.
insert into graph_outbox (scope_id, user_id, kind, ids)
select scope_id, user_id, 'communities', %(ids)s from graph_versions
where scope_id = %(scope_id)s and projected and cardinality(%(ids)s::uuid[]) > 0;
