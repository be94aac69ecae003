-- A measure of staff is kept beside the status of a customer, so that a customer that is closing can be restricted too.
alter table customer add column measure text;
alter table balance add column customer_measure text;

-- Nodes that cache the standing of customers are notified when a measure begins or ends, too.
drop trigger customer_changed on customer;
create trigger customer_changed after update of status, measure on customer
  for each row when (new.status is distinct from old.status or new.measure is distinct from old.measure) execute function customer_changed();

update customer set measure = status, status = 'active' where status in ('restricted', 'suspended');
update customer c set measure = k.previous_status from customer_closure k
  where k.customer_id = c.id and k.previous_status in ('restricted', 'suspended');
alter table customer_closure drop column previous_status;
update balance b set customer_status = c.status, customer_measure = c.measure from customer c
  where c.id = b.customer_id and c.measure is not null;

drop index balance_stopped;
create index balance_stopped on balance (id) where status = 'frozen' or customer_measure is not null;
