-- name: metadata
-- What ranking asks of chunks, found one by one as in `get`: no texts, and ids as results name them.
-- The document's title stands above the titles of the sections, unless it is one of them.
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

-- name: packed
-- The same of many chunks, as JSON one after the other: turning each into objects costs more than all else.
select convert_to(string_agg(object, '' order by place), 'UTF8') as objects,
  string_agg(int4send(octet_length(object)), '' order by place) as octets
from (
  select wanted.place, coalesce(row_to_json(c)::text, '') as object
  from unnest(%(ids)s::uuid[]) with ordinality as wanted(id, place)
  left join lateral (
  select id, case when document_title = any(section_path) then section_path
      else array_prepend(document_title, section_path) end as titles,
    array_to_string(topic_labels || topics || keywords || entities || tags, E'\n') as labels,
    modality, created_at, neighbours::text[] as neighbours
  from found_chunks where scope_id = %(scope_id)s and id = wanted.id offset 0
) as c on true
) as rows;
