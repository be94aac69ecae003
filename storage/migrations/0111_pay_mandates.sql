-- Mandates to pay by are lodged with their bank, too.
drop index mandate_unacknowledged;
create index mandate_unacknowledged on mandate (connection_id, created_at) where provider_ref is null and status in ('pending', 'submitted');
