-- What a report was made from, the weightiest first, so that it is written anew only when that has
-- changed by more than a little. Null: written before this was kept.
-- basis_words: a hash of the names, statements and passages that it may tell.
alter table communities add column basis_entities uuid[];
alter table communities add column basis_passages uuid[];
alter table communities add column basis_relations uuid[];
alter table communities add column basis_words uuid;
