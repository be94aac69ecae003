-- Nodes rest until the next row of a table is due. When a row becomes due earlier than before, its transaction notifies them; the
-- payload is the name of the table. Tables that the commit of payments writes have no such trigger: a transaction that notifies
-- keeps other transactions from committing, and the node that writes their rows is the one that works on them.
create function work_due() returns trigger language plpgsql as $$
begin
  perform pg_notify('work_due', tg_argv[0]);
  return null;
end
$$;

-- A row that ends, or is put off, wakes no node.
do $$
declare
  work record;
begin
  for work in select * from (values
    ('account_details', 'due_at'), ('approval', 'wake_at'), ('bulk_payment', 'due_at'), ('compliance_hold', 'wake_at'),
    ('customer_closure', 'due_at'), ('document', 'scan_due_at'), ('funds_request', 'expires_at'), ('job', 'due_at'),
    ('recipient_review', 'wake_at'), ('sandbox_message', 'due_at'), ('scheduled_payment', 'next_occurrence_at'),
    ('statement_calendar', 'due_at')) as t(name, due)
  loop
    execute format('create trigger work_inserted after insert on %1$I for each row when (new.%2$I is not null) execute function work_due(%1$L)', work.name, work.due);
  end loop;
  for work in select * from (values
    ('account_details', 'due_at'), ('approval', 'wake_at'), ('bulk_payment', 'due_at'), ('compliance_hold', 'wake_at'),
    ('customer_closure', 'due_at'), ('document', 'scan_due_at'), ('funds_request', 'expires_at'), ('job', 'due_at'),
    ('recipient_review', 'wake_at'), ('sandbox_fx_order', 'due_at'), ('sandbox_message', 'due_at'), ('sandbox_order', 'due_at'),
    ('statement_calendar', 'due_at')) as t(name, due)
  loop
    execute format('create trigger work_hastened after update of %2$I on %1$I for each row when (new.%2$I < coalesce(old.%2$I, ''infinity'')) execute function work_due(%1$L)', work.name, work.due);
  end loop;
end
$$;

-- A schedule is due again when its last occurrence has ended, or when it is resumed.
create trigger work_hastened after update of status, next_occurrence_at on scheduled_payment for each row when (new.status = 'active')
  execute function work_due('scheduled_payment');

-- Work whose next time depends on more than one column.
create trigger work_inserted after insert on api_key for each row when (new.expires_at is not null) execute function work_due('api_key');
create trigger work_hastened after update of status, expires_at on api_key for each row when (new.expires_at is not null)
  execute function work_due('api_key');
create trigger work_inserted after insert on reconciliation for each row when (true) execute function work_due('reconciliation');
create trigger work_hastened after update of status on reconciliation for each row when (new.status is distinct from old.status)
  execute function work_due('reconciliation');
create trigger work_hastened after update of failing_since on webhook_endpoint
  for each row when (old.failing_since is null and new.failing_since is not null) execute function work_due('webhook_endpoint');
