-- What the vision model said of images in documents, by their content, so that none is shown to it twice.
-- An empty caption: it could not be described; a job that is taken up again keeps to that.
create table image_captions (
  scope_id int not null references graphs on delete cascade,
  user_id text not null,
  sha256 text not null,
  model text not null,
  language text not null,
  caption text not null,
  created_at timestamptz not null default now(),
  primary key (scope_id, sha256, model, language)
);
select tenant_table('image_captions');
grant select, insert, update, delete on image_captions to sextant_app;
