-- name: metadata
-- The fields of chunks that ranking needs, looked up one by one as in `get`. The document's title precedes those of
-- the sections, unless it is one of them.
select wanted.id::text, c.*
from unnest(%(ids)s::uuid[]) with ordinality as wanted(id, place)
cross join lateral (
  select case when document_title = any(section_path) then section_path
      else array_prepend(document_title, section_path) end as titles,
    array_to_string(topic_labels || topics || keywords || entities || tags, E'\n') as labels,
    modality, created_at, neighbours::text[] as neighbours
  from found_chunks where scope_id = %(scope_id)s and id = wanted.id offset 0
) as c
order by wanted.place;
