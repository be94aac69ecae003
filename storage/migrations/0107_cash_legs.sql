-- Cash crosses two connections with other money too: a payment that leaves through another connection than that of its balance, a credit
-- that reaches the old connection of a balance that has moved. An object may have several legs, so a leg has an id of its own.
alter table cash_order add column id uuid;
alter table cash_order add column subject_object text;
alter table cash_order add column customer_id uuid;
update cash_order o set id = o.payment_id, subject_object = 'payment', customer_id = p.customer_id from payment p where p.id = o.payment_id;
alter table cash_order rename column payment_id to subject_id;
alter table cash_order drop constraint cash_order_pkey;
alter table cash_order add primary key (id);
alter table cash_order alter column subject_object set not null;
alter table cash_order alter column customer_id set not null;
create index cash_order_subject on cash_order (subject_id);
