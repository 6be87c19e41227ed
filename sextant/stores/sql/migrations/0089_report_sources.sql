-- What a report was made from and tells, as hashes; one that has none is written again after the next change.
alter table communities drop column if exists basis_entities, drop column if exists basis_passages,
  drop column if exists basis_relations, drop column if exists basis_words,
  add column if not exists told uuid[] not null default '{}',
  add column if not exists sources uuid[] not null default '{}';
