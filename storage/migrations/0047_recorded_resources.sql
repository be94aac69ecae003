-- The record of a command says what kind of resource it made, so that a repeat reads that resource and no other. Nearly all records
-- are of payments: as the column's first value that costs no write. The others of the last two days are named after their tables.
alter table idempotency add column resource_type text default 'payment';
alter table idempotency alter column resource_type drop default;
update idempotency set resource_type = null where resource_id is null;
do $$
declare
  made text;
begin
  foreach made in array array['transfer', 'exchange', 'quote', 'recipient', 'funds_request', 'scheduled_payment', 'bulk_payment', 'job',
    'incoming_payment']
  loop
    execute format('update idempotency i set resource_type = %1$L from %1$I made where made.id = i.resource_id', made);
  end loop;
end
$$;
