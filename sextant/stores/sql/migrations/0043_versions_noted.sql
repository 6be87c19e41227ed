-- Results tell a document's title, file and external id, which stand in its versions (found_chunks):
-- whoever changes them has written passages, too.
create function note_told() returns trigger language plpgsql security definer
set search_path from current
as $$
begin
  perform note_written(new.scope_id, 'passages');
  return null;
end $$;
create trigger note_told after update on document_versions for each row
when ((old.title, old.filename, old.external_id)
  is distinct from (new.title, new.filename, new.external_id)) execute function note_told();
revoke execute on function note_told() from public;
