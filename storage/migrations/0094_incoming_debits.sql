-- Direct debits that creditors collect from balances of customers. The id is the bank's reference of the debit.
create table incoming_debit (
  id uuid primary key,
  customer_id uuid not null,
  balance_id uuid not null,
  operator_id uuid not null,
  connection_id uuid not null,
  shard smallint not null,
  status text not null,
  version integer not null,
  scheme text not null,
  currency char(3) not null,
  amount bigint not null,
  creditor_name text not null,
  creditor_id text,
  mandate_reference text,
  mandate_id uuid,
  reference text,
  end_to_end_id text,
  due_date date not null,
  -- The bank had taken the money before it told of the debit.
  is_booked boolean not null,
  -- When the debit is decided; null when it is.
  due_at timestamptz,
  refusal text,
  reason_code text,
  entry_id uuid,
  back_entry_id uuid,
  debited_at timestamptz,
  ended_at timestamptz,
  -- The outcome that the bank is told; the time is null when the bank has taken it.
  answer text,
  answer_due_at timestamptz,
  received_at timestamptz not null,
  updated_at timestamptz not null,
  constraint incoming_debit_amount_positive check (amount > 0)
);
create index incoming_debit_customer on incoming_debit (customer_id, received_at, id);
create index incoming_debit_due on incoming_debit (due_at) where due_at is not null;
create index incoming_debit_answer_due on incoming_debit (answer_due_at) where answer_due_at is not null;
create index incoming_debit_mandate on incoming_debit (mandate_id) where status = 'pending_confirmation';
create index incoming_debit_open on incoming_debit (balance_id) where due_at is not null;

-- The commit of payments writes the rows; the task is added when all locks are held.
create constraint trigger task_added after insert or update of due_at on incoming_debit deferrable initially deferred for each row
  when (new.due_at is not null) execute function add_task_of_second('incoming_debits.take', 'due_at');

-- Mandates as the payer's side keeps them: the id is derived from balance, scheme, creditor and reference.
create table payer_mandate (
  id uuid primary key,
  customer_id uuid not null,
  balance_id uuid not null,
  scheme text not null,
  creditor_name text not null,
  creditor_id text,
  reference text not null,
  status text not null,
  last_due_date date,
  version integer not null,
  updated_at timestamptz not null,
  constraint payer_mandate_status check (status in ('seen', 'confirmed', 'cancelled'))
);
create index payer_mandate_balance on payer_mandate (balance_id);

-- The controls that payers set for the direct debits of their balances.
create table debit_controls (
  balance_id uuid primary key,
  customer_id uuid not null,
  block_all boolean not null,
  allowed_creditor_ids text[] not null default '{}',
  blocked_creditor_ids text[] not null default '{}',
  max_amount bigint,
  periodicity text,
  version integer not null default 1,
  updated_by uuid not null,
  updated_at timestamptz not null,
  constraint debit_controls_amount_positive check (max_amount > 0)
);
