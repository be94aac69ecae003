-- Payments that make themselves on their days.
--
-- An occurrence is a row before its payment is asked for, and the row says which id the payment will have. So a node that
-- dies in between leaves behind what has to be looked at again, and looking again makes no second payment.

create table scheduled_payment (
  id uuid primary key,
  customer_id uuid not null,
  operator_id uuid not null,
  shard smallint not null,
  number text not null,
  external_id text,
  status text not null,
  version bigint not null default 1,
  recipient_id uuid not null,
  source_balance_id uuid not null,
  currency char(3) not null,
  amount bigint not null,
  requested_rail text,
  -- The one whose calendar the days are from.
  rail text not null,
  reference text not null,
  purpose_code text,
  charge_bearer text not null,
  frequency text not null,
  start_date date not null,
  end_date date,
  max_occurrences integer,
  day_policy text not null,
  last_day_of_month boolean not null,
  -- The next occurrence: its place in the series, when it is planned, and its day. Kept while the schedule is paused.
  next_index integer,
  next_planned_date date,
  next_execution_date date,
  -- When it is made; null unless the schedule is active.
  next_occurrence_at timestamptz,
  occurrences_begun integer not null default 0,
  occurrences_created integer not null default 0,
  consecutive_failures integer not null default 0,
  last_payment_id uuid,
  paused_at timestamptz,
  metadata jsonb not null default '{}',
  created_by uuid not null,
  created_by_name text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint scheduled_payment_amount_positive check (amount > 0)
) with (fillfactor = 70);
create index scheduled_payment_customer on scheduled_payment (customer_id, id);
-- Those without a next occurrence come last, and a keyset has no nulls.
create index scheduled_payment_next on scheduled_payment (customer_id, coalesce(next_occurrence_at, 'infinity'::timestamptz), id);
create index scheduled_payment_due on scheduled_payment (next_occurrence_at) where status = 'active';
create index scheduled_payment_recipient on scheduled_payment (recipient_id) where status in ('active', 'paused');
create unique index scheduled_payment_number_unique on scheduled_payment (number);
create unique index scheduled_payment_external_id_unique on scheduled_payment (customer_id, external_id) where external_id is not null;

create table scheduled_occurrence (
  -- Of the payment that it becomes; nothing has it while the occurrence is due, and nothing ever when it was refused.
  payment_id uuid primary key,
  scheduled_payment_id uuid not null,
  customer_id uuid not null,
  shard smallint not null,
  -- Counted from 1.
  number integer not null,
  -- Its place in the series.
  index integer not null,
  planned_date date not null,
  execution_date date not null,
  status text not null,
  -- How its payment ended; null until it has.
  outcome text,
  -- JSON text: why there is no payment.
  refusal text,
  -- When a node took it up; another one does after a while.
  taken_at timestamptz not null,
  created_at timestamptz not null,
  constraint scheduled_occurrence_number_unique unique (scheduled_payment_id, number)
) with (fillfactor = 70);
create index scheduled_occurrence_due on scheduled_occurrence (taken_at) where status = 'due';
create unique index scheduled_occurrence_one_due on scheduled_occurrence (scheduled_payment_id) where status = 'due';
-- Those whose payment has not ended: what the events of payments are compared with.
create index scheduled_occurrence_open on scheduled_occurrence (payment_id) where outcome is null and status <> 'refused';

-- How far the events of payments have been followed for the outcomes of occurrences: every event written in a transaction
-- before `position`. One row.
create table scheduled_payment_follow_up (
  position xid8 not null,
  -- When it last moved, by the service's clock; much older partitions need not be looked at.
  moved_at timestamptz
);
insert into scheduled_payment_follow_up (position) values ((pg_current_xact_id()::text::bigint + 1)::text::xid8);
