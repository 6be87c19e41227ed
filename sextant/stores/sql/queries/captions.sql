-- name: known
-- The captions of images in a knowledge base.
select c.sha256, c.caption
from image_captions c join graphs g on g.scope_id = c.scope_id
where g.user_id = %(user_id)s and g.graph_id = %(graph_id)s
  and c.model = %(model)s and c.language = %(language)s and c.sha256 = any(%(images)s);

-- name: keep
-- Store the caption of an image.
insert into image_captions (scope_id, user_id, sha256, model, language, caption)
select g.scope_id, g.user_id, %(sha256)s, %(model)s, %(language)s, %(caption)s
from graphs g where g.user_id = %(user_id)s and g.graph_id = %(graph_id)s
on conflict (scope_id, sha256, model, language)
do update set caption = excluded.caption, created_at = now();
