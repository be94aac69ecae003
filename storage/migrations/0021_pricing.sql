-- What operators charge, in lists of rules that they may change.
create table pricing_template (
  id uuid primary key,
  operator_id uuid not null references operator,
  name text not null,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_by uuid,
  updated_at timestamptz not null,
  constraint pricing_template_name unique (operator_id, name)
);

-- The list that holds for customers of the operator, which nobody deletes while it does; null: nothing is charged.
alter table operator add column pricing_template_id uuid;

-- Rules so far had no list: they become one, which goes on holding.
insert into pricing_template (id, operator_id, name, created_at, updated_at)
  select gen_random_uuid(), operator_id, 'Standard', now(), now() from (select distinct operator_id from fee_rule) o;
update operator o set pricing_template_id = t.id from pricing_template t where t.operator_id = o.id;
alter table fee_rule
  add column template_id uuid references pricing_template on delete cascade,
  -- For what: a payment, one that comes in, one that is returned, an exchange (by the currency sold); or what the partner takes for a payment.
  add column kind text not null default 'payment',
  -- Of a payment: given back when the payment is returned.
  add column refundable boolean not null default false,
  -- Of what the partner takes: charged to senders who bear the charges.
  add column passed_on boolean not null default false;
update fee_rule f set template_id = t.id from pricing_template t where t.operator_id = f.operator_id;
alter table fee_rule
  drop column operator_id,
  alter column template_id set not null,
  alter column kind drop default,
  add primary key (template_id, kind, currency, rail),
  add constraint fee_rule_kind check (kind in ('payment', 'incoming_payment', 'payment_return', 'exchange', 'partner_charge')),
  add constraint fee_rule_fits check ((kind = 'payment' or not refundable) and (kind = 'partner_charge' or not passed_on));
