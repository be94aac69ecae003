-- Collections that their creditors send back: the reversal, what became of it, and its order at the bank.
alter table collection
  add column reversal text,
  add column reversal_status text,
  add column reversal_sent_at timestamptz,
  add column reversal_ref text;
create index collection_reversal on collection (connection_id, reversed_at) where reversal_status = 'pending' and reversal_ref is null;

-- Mandates that ended here, until their bank has been told.
alter table mandate add column end_due_at timestamptz;
create index mandate_end on mandate (end_due_at) where end_due_at is not null;
