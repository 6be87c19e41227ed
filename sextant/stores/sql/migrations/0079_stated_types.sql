-- The types that a chat model or an import gives an entity, which come before those that its name shows.
create index mentions_stated_types on mentions (scope_id, entity_id, entity_type)
  where kind in ('model', 'import') and entity_type not in ('', 'TERM');
