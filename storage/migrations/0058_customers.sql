-- Customers that staff make and steer. Those of before are businesses of the sandbox, whose bank is Dutch.
alter table customer
  add column trading_name text,
  add column identity_type text not null default 'corporate',
  add column registration_number text,
  add column incorporation_country char(2) not null default 'NL',
  add column incorporation_date date,
  add column risk text,
  add column pricing_template_id uuid,
  add column metadata jsonb not null default '{}',
  add column approved_at timestamptz;
update customer set approved_at = created_at where status in ('active', 'restricted', 'suspended', 'closing', 'closed');
update customer set identity_type = 'individual' where customer_type <> 'business';
alter table customer alter column identity_type drop default, alter column incorporation_country drop default;

create index customer_pricing on customer (pricing_template_id) where pricing_template_id is not null;
create index customer_operator_created on customer (operator_id, id);
create index customer_operator_name on customer (operator_id, lower(legal_name), id);
create index customer_search on customer using gin (
  search_words(operator_id, legal_name || ' ' || coalesce(trading_name, '') || ' ' || number || ' ' || coalesce(registration_number, '')));

-- Nodes that cache the status of customers are notified when it changes.
create function customer_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('customer_changed', new.id || ' ' || new.version);
  return null;
end $$;
create trigger customer_changed after update of status on customer
  for each row when (new.status is distinct from old.status) execute function customer_changed();

-- The status of the customer of a balance: a commit of payments locks balances, and reads no customer.
alter table balance add column customer_status text not null default 'active';
update balance b set customer_status = c.status from customer c where c.id = b.customer_id and c.status <> 'active';

-- The queue of payments passes over those of balances that pay nothing, of which there are few.
create index balance_stopped on balance (id) where status = 'frozen' or customer_status in ('restricted', 'suspended');
drop index balance_frozen;

-- A closure that is withdrawn leaves the customer as restricted as it was.
alter table customer_closure add column previous_status text not null default 'active';

-- The domains at which API keys may invite the first owners of customers.
alter table operator add column api_key_invitation_domains text[] not null default '{}';
