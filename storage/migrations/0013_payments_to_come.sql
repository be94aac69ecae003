-- Payments before they are submitted, and those that wait for their day.
alter table payment
  -- A draft has neither before it is submitted.
  alter column rail drop not null,
  alter column execution_date drop not null,
  -- The schedule that made it. Nothing that changes later, so updates stay heap-only.
  add column scheduled_payment_id uuid;
create index payment_scheduled_payment on payment (scheduled_payment_id, id) where scheduled_payment_id is not null;

-- Payments that are scheduled: when one is looked at next, and until when money that is missing is waited for. A table of its
-- own, because payment has no index that a change of its status would write.
create table payment_due (
  payment_id uuid primary key,
  shard smallint not null,
  due_at timestamptz not null,
  until timestamptz not null
);
create index payment_due_at on payment_due (due_at);

-- A payment that is not handed over before then, though everybody has agreed to it.
alter table partner_instruction add column not_before timestamptz;

-- What is set for a connection: `realCalendar` makes a sandbox keep cut-offs and bank holidays.
alter table provider_connection add column config jsonb not null default '{}';

-- What an operator charges for payments. Of the rows that fit a payment the one that names its rail goes before the one for any.
create table fee_rule (
  operator_id uuid not null references operator,
  currency char(3) not null,
  -- Empty: any rail.
  rail text not null default '',
  fixed_minor bigint not null default 0,
  -- Of the amount, in hundredths of a per cent.
  bps integer not null default 0,
  min_minor bigint not null default 0,
  max_minor bigint,
  primary key (operator_id, currency, rail),
  constraint fee_rule_not_negative check (fixed_minor >= 0 and bps >= 0 and min_minor >= 0 and max_minor >= min_minor)
);
