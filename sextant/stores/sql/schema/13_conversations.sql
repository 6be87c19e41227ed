-- Conversations: LangGraph's checkpoints of the workflow, by thread.
--
-- The first columns and the keys of the checkpoints are those that langgraph-checkpoint-postgres 3.2 expects, as its
-- own migrations 0 to 9 make them; user_id and created_at are ours and fill themselves. A thread's key begins with
-- a hash of its user (graph/threads.py), so that equal names of two users do not collide.
create table checkpoints (
  thread_id text not null,
  checkpoint_ns text not null default '',
  checkpoint_id text not null,
  parent_checkpoint_id text,
  type text,
  checkpoint jsonb not null,
  metadata jsonb not null default '{}',
  user_id text not null default nullif(current_setting('sextant.user_id', true), ''),
  created_at timestamptz not null default now(),
  primary key (thread_id, checkpoint_ns, checkpoint_id)
);
create index on checkpoints (user_id, created_at);

create table checkpoint_blobs (
  thread_id text not null,
  checkpoint_ns text not null default '',
  channel text not null,
  version text not null,
  type text not null,
  blob bytea,
  user_id text not null default nullif(current_setting('sextant.user_id', true), ''),
  primary key (thread_id, checkpoint_ns, channel, version)
);

create table checkpoint_writes (
  thread_id text not null,
  checkpoint_ns text not null default '',
  checkpoint_id text not null,
  task_id text not null,
  idx int not null,
  channel text not null,
  type text,
  blob bytea not null,
  task_path text not null default '',
  user_id text not null default nullif(current_setting('sextant.user_id', true), ''),
  primary key (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);

select tenant_table('checkpoints'), tenant_table('checkpoint_blobs'), tenant_table('checkpoint_writes');
grant select, insert, update, delete on checkpoints, checkpoint_blobs, checkpoint_writes to sextant_app;

-- What is known of a conversation beside its checkpoints. key: as checkpoints.thread_id. title: its first question.
-- busy_until: until when a turn of it may be under way.
create table conversations (
  key text primary key,
  title text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  busy_until timestamptz,
  user_id text not null default nullif(current_setting('sextant.user_id', true), '')
);
create index on conversations (user_id, updated_at);
select tenant_table('conversations');
grant select, insert, update, delete on conversations to sextant_app;
