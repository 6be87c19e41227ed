-- Names of entities without the hashes of their words: entities are found by whole names, full text and vectors.
drop function search_names(int, bigint[]);
drop policy owner_searches on entity_names;
alter table entity_names drop column tokens;
