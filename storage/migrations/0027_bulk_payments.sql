-- Files of payments, and their rows.

create table bulk_payment (
  id uuid primary key,
  customer_id uuid not null,
  operator_id uuid not null,
  shard smallint not null,
  number text not null,
  name text not null,
  status text not null,
  version integer not null default 1,
  format text not null,
  file_id uuid not null,
  file_name text,
  file_hash bytea not null,
  message_id text,
  options text not null,
  source_balance_id uuid,
  execution_date date,
  total integer not null default 0,
  pending integer not null default 0,
  valid integer not null default 0,
  invalid integer not null default 0,
  submitting integer not null default 0,
  submitted integer not null default 0,
  failed integer not null default 0,
  totals text not null default '[]',
  file_errors text not null default '[]',
  warnings text not null default '[]',
  duplicate_of uuid,
  job_id uuid,
  approval_id uuid,
  -- When it is looked at next: a run that stands still is given up, payments follow the end of their approval.
  due_at timestamptz,
  -- The payments of rows up to this one have followed it.
  decided_rows integer not null default 0,
  last_progress_at timestamptz,
  submitted_by uuid,
  submitted_by_name text,
  submitted_via text,
  submitted_at timestamptz,
  closed_at timestamptz,
  created_by uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint bulk_payment_number_unique unique (operator_id, number),
  constraint bulk_payment_counts check (total = pending + valid + invalid + submitting + submitted + failed)
);
create index bulk_payment_customer on bulk_payment (customer_id, id);
create index bulk_payment_file on bulk_payment (customer_id, file_hash, created_at);
create index bulk_payment_message on bulk_payment (customer_id, message_id, created_at) where message_id is not null;
create index bulk_payment_running on bulk_payment (operator_id) where status = 'submitting';
create index bulk_payment_due on bulk_payment (due_at) where due_at is not null;
create index bulk_payment_approval on bulk_payment (approval_id) where approval_id is not null;

-- A row keeps what it said (instruction) and what was found for it. payment_id is the id that its payment has or will have:
-- it is written before the payment is asked for, so a run that dies in between asks for the same one again.
create table bulk_payment_row (
  bulk_payment_id uuid not null,
  row_number integer not null,
  id uuid not null,
  line integer,
  status text not null,
  instruction text not null,
  recipient_id uuid,
  recipient_name text not null,
  masked_identifier text,
  currency char(3),
  amount bigint,
  rail text,
  reference text,
  execution_date date,
  source_balance_id uuid,
  fee bigint,
  estimated_arrival timestamptz,
  external_id text,
  errors text not null default '[]',
  error_codes text[] not null default '{}',
  warnings text not null default '[]',
  payment_id uuid,
  failure_code text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (bulk_payment_id, row_number)
);
create index bulk_payment_row_left on bulk_payment_row (bulk_payment_id, row_number) where status in ('valid', 'submitting');
-- What people look for among a hundred thousand rows.
create index bulk_payment_row_faulty on bulk_payment_row (bulk_payment_id, row_number) where status in ('invalid', 'failed');
create index bulk_payment_row_payment on bulk_payment_row (payment_id) where payment_id is not null;
