-- Mandates and collections that their bank has not acknowledged: the queue of those that travel by orders.
create index mandate_unacknowledged on mandate (connection_id, created_at)
  where provider_ref is null and direction = 'collect' and status in ('pending', 'submitted');
create index collection_unacknowledged on collection (connection_id, created_at)
  where provider_ref is null and file_id is null and status in ('pending', 'submitted');
