-- +goose Up
-- A workflow, and what polls leave of it. wanted: its source is polled for it, every so often. What people write of
-- it is one document; only what statements need is a column, too.
create table workflows (
  id integer primary key,
  source_id integer not null,
  name text not null,
  enabled integer not null,
  wanted integer not null,
  every integer not null,
  ordered integer not null,
  definition text not null,
  disabled_reason text not null default '',
  checked_at integer,
  content_hash text not null default '',
  failures integer not null default 0,
  last_error text not null default '',
  waiting integer not null default 1,
  resting integer not null default 0,
  mourned integer not null default 0,
  created_at integer not null,
  updated_at integer not null
) strict;
create index workflows_source on workflows (source_id);
create index workflows_ordered on workflows (id) where ordered = 1;

-- What a workflow has seen (freshet.Memory): wide, and written only when something appeared.
create table workflow_memory (
  workflow_id integer primary key references workflows (id) on delete cascade,
  ids text not null default '[]', win blob not null default x'', kept blob not null default x''
) strict;

-- The parts of its document that workflows watch: a copy of what they say.
alter table sources add column parts text not null default '[]';

-- One action carried out with one frozen input. due_at is when something must be done: the next attempt, or, of one
-- that runs, the end of its lease; null when it is over.
create table executions (
  id integer primary key,
  kind text not null,
  workflow_id integer not null default 0,
  action text not null,
  source_id integer not null default 0,
  seq integer not null default 0,
  part integer not null default 0,
  state text not null,
  data text not null,
  items integer not null default 0,
  due_at integer,
  owner text not null default '',
  attempts integer not null default 0,
  failures integer not null default 0,
  abandoned integer not null default 0,
  last_error text not null default '',
  created_at integer not null,
  done_at integer
) strict;
-- A poll's news fires once (W6).
create unique index executions_once on executions (workflow_id, action, source_id, seq, part) where kind = 'trigger';
create index executions_due on executions (due_at, workflow_id) where due_at is not null and action <> '';
create index executions_pull on executions (due_at, workflow_id) where due_at is not null and action = '';
create index executions_open on executions (workflow_id, action, id) where due_at is not null;
create index executions_list on executions (workflow_id, id desc);
create index executions_failed on executions (state, id) where done_at is not null and state <> 'succeeded';
create index executions_done on executions (done_at) where done_at is not null;

create table attempts (
  execution_id integer not null references executions (id) on delete cascade,
  n integer not null,
  started_at integer not null,
  took integer not null,
  status integer not null,
  error text not null,
  answer text not null,
  primary key (execution_id, n)
) strict, without rowid;

-- What people may want to know of (W8).
create table notices (
  id integer primary key, at integer not null, kind text not null, workflow_id integer not null, title text not null, body text not null
) strict;

-- +goose Down
drop table notices; drop table attempts; drop table executions; drop table workflow_memory; drop table workflows;
alter table sources drop column parts;
