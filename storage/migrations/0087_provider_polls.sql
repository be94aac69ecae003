-- How far the events of a connection have been listed, and when its provider is asked next. `since` is the start of the window that is being
-- listed, `cursor` the next page of it.
create table provider_poll (
  connection_id uuid primary key,
  shard smallint not null,
  since timestamptz not null,
  began_at timestamptz,
  cursor text,
  failures smallint not null default 0,
  error text,
  polled_at timestamptz,
  due_at timestamptz not null
);
create trigger task_added after insert or update of due_at on provider_poll for each row when (new.due_at is not null)
  execute function add_task('providers.poll', 'connection_id', 'due_at');
