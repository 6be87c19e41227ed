-- What is known of a conversation beside its checkpoints: its first question, when it began and was
-- last added to, and until when a turn of it may be under way.
create table conversations (
  key text primary key,  -- as checkpoints.thread_id
  title text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  busy_until timestamptz,
  user_id text not null default nullif(current_setting('sextant.user_id', true), '')
);
create index on conversations (user_id, updated_at);

select tenant_table('conversations');
grant select, insert, update, delete on conversations to sextant_app;
