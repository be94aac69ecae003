-- Invitations of staff: those of an operator itself have no customer. Every invitation names its operator, and may name
-- the invited person.
alter table invitation alter column customer_id drop not null, add column operator_id uuid, add column name text;
update invitation i set operator_id = c.operator_id from customer c where c.id = i.customer_id;
alter table invitation alter column operator_id set not null;
create index invitation_operator on invitation (operator_id, id) where customer_id is null;
create unique index invitation_staff_pending on invitation (operator_id, email_key) where status = 'pending' and customer_id is null;
