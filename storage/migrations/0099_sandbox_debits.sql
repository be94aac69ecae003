-- Direct debits in the sandbox bank's own book: mandates, and the presentations of collections. Nothing of ours reads it except
-- through the partner port.
create table sandbox_debit (
  reference uuid primary key,
  kind text not null check (kind in ('mandate', 'collection')),
  object_id uuid not null,
  shard smallint not null,
  connection_id uuid not null,
  scheme text not null,
  currency char(3) not null,
  amount bigint,
  account text not null,
  -- The reports still to come, as text; the next one is due at due_at.
  steps text not null,
  event_number integer not null default 0,
  due_at timestamptz,
  received_at timestamptz not null
) with (fillfactor = 70);
create index sandbox_debit_due on sandbox_debit (due_at) where due_at is not null;
create index sandbox_debit_object on sandbox_debit (object_id);
create trigger work_hastened after update of due_at on sandbox_debit for each row
  when (new.due_at < coalesce(old.due_at, 'infinity')) execute function work_due('sandbox_debit');
