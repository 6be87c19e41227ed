-- What a report was made from and tells, as hashes; one that has none is written again after the next change.
alter table communities drop column basis_entities, drop column basis_passages, drop column basis_relations,
  drop column basis_words, add column told uuid[] not null default '{}',
  add column sources uuid[] not null default '{}';
