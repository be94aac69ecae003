-- Money that arrives: where it can be sent to, what became of it, and the sandbox bank's side of it.

-- How a balance is reached from outside. While its partner has not provided an account, it has no identifiers.
create table account_details (
  id uuid primary key,
  customer_id uuid not null,
  balance_id uuid not null,
  currency char(3) not null,
  scope text not null,
  rails text[] not null,
  status text not null,
  status_reason text,
  account_holder_name text not null,
  identifiers jsonb,
  bank_name text,
  bank_address jsonb,
  country char(2),
  shared boolean not null,
  reference text,
  estimated_arrival jsonb,
  valid_from timestamptz,
  valid_until timestamptz,
  replaced_by_id uuid,
  created_at timestamptz not null
);
create index account_details_balance on account_details (balance_id, id);

-- Account numbers of the sandbox bank: seven digits, each used in one balance only.
create sequence sandbox_account_number minvalue 2000000 maxvalue 9999999;

-- A row is one credit at the partner for good: unallocated (nobody's yet, so without customer), under review, received or
-- returned. credited_at is when it came to its balance; before that its customer does not see it, and of what is sent
-- back before that never hears.
alter table incoming_payment
  alter column customer_id drop not null,
  alter column balance_id drop not null,
  add column operator_id uuid,
  add column connection_id uuid,
  add column shard smallint,
  add column version integer not null default 1,
  add column rail text,
  add column payer_identifier text,
  add column payer_bank_name text,
  add column payer_country char(2),
  add column end_to_end_id text,
  add column uetr uuid,
  add column funds_request_id uuid,
  add column value_date date,
  add column credited_at timestamptz,
  add column suspense text,
  add column suspense_reason text,
  add column decided_by uuid,
  add column decided_at timestamptz,
  add column decision_reason text,
  add column recall text,
  add column recall_hold_id uuid,
  add column returned_amount bigint,
  add column return_reason text,
  add column return_state text,
  add column updated_at timestamptz;
update incoming_payment i set operator_id = b.operator_id, connection_id = b.connection_id, shard = b.shard, credited_at = i.received_at,
    value_date = (i.received_at at time zone 'UTC')::date, updated_at = i.received_at
  from balance b where b.id = i.balance_id;
alter table incoming_payment
  alter column operator_id set not null,
  alter column connection_id set not null,
  alter column shard set not null,
  alter column value_date set not null,
  alter column updated_at set not null;
create index incoming_payment_received on incoming_payment (customer_id, credited_at, id) where credited_at is not null;
create index incoming_payment_suspense on incoming_payment (operator_id, id) where suspense is not null;
-- Sent back, and the partner has not taken the order yet.
create index incoming_payment_return_due on incoming_payment (id) where return_state = 'due';

-- What the sandbox bank has to say about credits, and whether it was heard. Nothing of ours reads it except through the port.
create table sandbox_message (
  id uuid primary key,
  shard smallint not null,
  type text not null,
  reference uuid not null,
  body text not null,
  due_at timestamptz not null,
  acknowledged_at timestamptz
);
create index sandbox_message_due on sandbox_message (due_at) where acknowledged_at is null;
