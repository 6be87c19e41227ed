-- Who says what a section is about, as of chunks (0011): 'extract', 'llm', or 'outdated': a chat model, before it
-- described more of what is in the section, so that it is asked again.
alter table sections add column described_by text not null default 'extract';
alter table sections add column describe_tries int not null default 0;
