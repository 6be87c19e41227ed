-- Functions are called by what they return or note, in the terms of the field.
do $$
declare
  renamed record;
  caller oid;
begin
  for renamed in
    select * from (values
      ('own_tenant()', 'own_tenant', 'current_tenant'),
      ('told_chunks(text, text, bytea, int)', 'told_chunks', 'chunk_contents'),
      ('told_entities(text, text, uuid[])', 'told_entities', 'entity_contents'),
      ('nearest_told(text, text, vector, int, int)', 'nearest_told', 'nearest_chunk_contents'),
      ('held_chunks(text, text, text[], text[], int[], text[], int, int)', 'held_chunks', 'keyword_matches'),
      ('note_written(int, text)', 'note_written', 'note_write'),
      ('note_touched()', 'note_touched', 'note_rows'),
      ('note_told()', 'note_told', 'note_document_names')
    ) as names (signature, old_name, new_name)
  loop
    execute format('alter function %s rename to %I', renamed.signature, renamed.new_name);
    -- A body is text, in which names do not follow.
    for caller in
      select p.oid from pg_proc p
      where p.pronamespace = current_schema()::regnamespace and p.prosrc ~ ('\m' || renamed.old_name || '\M')
    loop
      execute regexp_replace(pg_get_functiondef(caller), '\m' || renamed.old_name || '\M', renamed.new_name, 'g');
    end loop;
  end loop;
  for caller in select unnest(array['chunk_contents'::regproc, 'entity_contents'::regproc]::oid[]) loop
    execute regexp_replace(pg_get_functiondef(caller), '\mtold\M', 'result', 'g');
  end loop;
end $$;
alter trigger note_told on document_versions rename to note_document_names;
