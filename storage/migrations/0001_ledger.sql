-- The schema of the ledger, the payments that move it, and the rows that make both provable.
--
-- Decisions, with the figures that made them (two cores, fsync on, ratios within one run):
--  * One row per debit/credit pair. A posting names exactly one account to debit, one to credit, one currency and one
--    positive amount, so an entry that does not balance cannot be written down at all (I6). Rows sharing entry_id are
--    one entry. It also halves the rows of a payment's life against an entry with separate lines.
--  * No foreign keys on the hot tables (payment, hold, posting, status_update, outbox, idempotency, partner_instruction):
--    they cost a fifth of the commits. `npm run audit` checks what they would.
--  * balance and payment leave room on each page (fillfactor) and index no column that a status change writes, so that
--    updates stay heap-only. That is why no index mentions payment.status.
--  * Internal accounts have no running total: they are touched by everything, and a row that every commit locks would
--    serialise all customers. Their totals are sums over posting.
--  * What is only shown travels as JSON text, not jsonb (10 % slower to write, and nothing ever searches it).

create table operator (
  id uuid primary key,
  name text not null,
  created_at timestamptz not null
);

create table customer (
  id uuid primary key,
  operator_id uuid not null references operator,
  number text not null,
  legal_name text not null,
  customer_type text not null,
  status text not null,
  shard smallint not null,
  version bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint customer_number_unique unique (operator_id, number)
);

-- A key belongs to one tenant: a customer, or the operator itself. Only the hash of its text is kept.
create table api_key (
  id uuid primary key,
  level text not null,
  tenant_id uuid not null,
  operator_id uuid not null references operator,
  name text not null,
  environment text not null,
  prefix text not null,
  sha256 bytea not null,
  scopes text[] not null,
  status text not null,
  expires_at timestamptz,
  created_by uuid not null,
  created_at timestamptz not null,
  constraint api_key_sha256_unique unique (sha256)
);

create table provider_connection (
  id uuid primary key,
  operator_id uuid not null references operator,
  provider text not null,
  environment text not null,
  role text not null,
  status text not null,
  name text not null,
  created_at timestamptz not null
);

-- The internal accounts of the chart (lib/ledger/chart.ts). A customer's own account is its balance row.
create table account (
  id uuid primary key,
  operator_id uuid not null,
  key text not null,
  currency char(3) not null,
  connection_id uuid,
  customer_id uuid,
  constraint account_unique unique nulls not distinct (operator_id, key, currency, connection_id, customer_id)
);

create table balance (
  id uuid primary key,
  customer_id uuid not null,
  operator_id uuid not null,
  connection_id uuid not null,
  shard smallint not null,
  currency char(3) not null,
  name text not null,
  type text not null,
  parent_balance_id uuid,
  status text not null,
  is_default boolean not null,
  details_status text,
  posted bigint not null default 0,
  held bigint not null default 0,
  sequence bigint not null default 0,
  version bigint not null default 1,
  low_balance_threshold bigint,
  metadata jsonb not null default '{}',
  created_at timestamptz not null,
  updated_at timestamptz not null,
  closed_at timestamptz,
  constraint balance_held_positive check (held >= 0)
) with (fillfactor = 50);
create index balance_customer on balance (customer_id, currency, id);

create table recipient (
  id uuid primary key,
  customer_id uuid not null,
  type text not null,
  name text not null,
  nickname text,
  email text,
  currency char(3) not null,
  bank_country char(2) not null,
  bank jsonb not null,
  address jsonb,
  masked_identifier text not null,
  default_reference text,
  purpose text,
  external_id text,
  status text not null,
  metadata jsonb not null default '{}',
  version bigint not null default 1,
  last_paid_at timestamptz,
  created_by uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index recipient_customer on recipient (customer_id, lower(name), id);

create table hold (
  id uuid primary key,
  balance_id uuid not null,
  customer_id uuid not null,
  amount bigint not null,
  status text not null,
  subject_type text not null,
  subject_id uuid not null,
  description text not null,
  captured_amount bigint,
  created_at timestamptz not null,
  expires_at timestamptz,
  resolved_at timestamptz,
  constraint hold_amount_positive check (amount > 0)
) with (fillfactor = 70);
create index hold_active on hold (balance_id, id) where status = 'active';
create index hold_balance on hold (balance_id, id) where status <> 'active';

create table posting (
  entry_id uuid not null,
  ordinal smallint not null,
  customer_id uuid not null,
  rule text not null,
  occurrence smallint not null,
  source_object text not null,
  source_id uuid not null,
  currency char(3) not null,
  amount bigint not null,
  debit_account uuid not null,
  credit_account uuid not null,
  debit_sequence bigint,
  debit_balance bigint,
  credit_sequence bigint,
  credit_balance bigint,
  description text,
  reference text,
  counterparty text,
  reversal_of uuid,
  booked_at timestamptz not null,
  value_date date not null,
  -- A replayed event cannot post twice (G2).
  constraint posting_once primary key (source_id, rule, occurrence, ordinal),
  constraint posting_amount_positive check (amount > 0),
  constraint posting_two_accounts check (debit_account <> credit_account)
);
-- The journal of a balance is read from these two, merged by sequence; internal legs are in neither.
create unique index posting_debit on posting (debit_account, debit_sequence) where debit_sequence is not null;
create unique index posting_credit on posting (credit_account, credit_sequence) where credit_sequence is not null;

create table payment (
  id uuid primary key,
  customer_id uuid not null,
  operator_id uuid not null,
  connection_id uuid not null,
  shard smallint not null,
  number text not null,
  external_id text,
  status text not null,
  version integer not null,
  source_balance_id uuid not null,
  recipient_id uuid not null,
  hold_id uuid,
  currency char(3) not null,
  amount bigint not null,
  fee bigint not null,
  rail text not null,
  execution_date date not null,
  created_by uuid not null,
  created_via text not null,
  details text not null,
  metadata jsonb,
  failure text,
  exception text,
  provider_ref text,
  sent_at timestamptz,
  completed_at timestamptz,
  failed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint payment_amount_positive check (amount > 0)
) with (fillfactor = 60);
create index payment_customer on payment (customer_id, id);
create unique index payment_number_unique on payment (number);
create unique index payment_external_id_unique on payment (customer_id, external_id) where external_id is not null;

create table transfer (
  id uuid primary key,
  customer_id uuid not null,
  operator_id uuid not null,
  shard smallint not null,
  number text not null,
  external_id text,
  status text not null,
  version integer not null,
  from_balance_id uuid not null,
  to_balance_id uuid not null,
  currency char(3) not null,
  amount bigint not null,
  reference text,
  created_by uuid not null,
  created_via text not null,
  metadata jsonb,
  completed_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint transfer_amount_positive check (amount > 0)
);
create index transfer_customer on transfer (customer_id, id);
create unique index transfer_number_unique on transfer (number);
create unique index transfer_external_id_unique on transfer (customer_id, external_id) where external_id is not null;

-- Money that arrived from outside. The first rows are the opening credits of a new sandbox.
create table incoming_payment (
  id uuid primary key,
  customer_id uuid not null,
  balance_id uuid not null,
  status text not null,
  currency char(3) not null,
  amount bigint not null,
  payer_name text,
  reference text,
  received_at timestamptz not null,
  constraint incoming_payment_amount_positive check (amount > 0)
);
create index incoming_payment_customer on incoming_payment (customer_id, id);

-- What happened to a payment or transfer, one row per version of it.
create table status_update (
  object_id uuid not null,
  version integer not null,
  customer_id uuid not null,
  status text not null,
  previous_status text,
  message text not null,
  actor text not null,
  at timestamptz not null,
  primary key (object_id, version)
);

-- Payments that the partner has still to answer for. A row is written with the payment and deleted with its outcome;
-- payment.sent_at tells waiting from sent, so handing over writes nothing here. attention_at is set while the outcome
-- is unknown, and is when the partner is asked next.
create table partner_instruction (
  payment_id uuid primary key,
  shard smallint not null,
  attention_at timestamptz,
  attempts smallint not null default 0
);
create index partner_instruction_attention on partner_instruction (attention_at) where attention_at is not null;

-- Every message a partner sent us, once: the primary key is the partner's own event id.
create table provider_event (
  id uuid primary key,
  connection_id uuid not null,
  type text not null,
  object_id uuid not null,
  code text,
  received_at timestamptz not null
);

-- The sandbox bank's own book. Nothing of ours reads it except through the partner port.
create table sandbox_order (
  reference uuid primary key,
  shard smallint not null,
  currency char(3) not null,
  amount bigint not null,
  state text not null,
  scheme_code text,
  next_event text,
  due_at timestamptz,
  received_at timestamptz not null
) with (fillfactor = 70);
create index sandbox_order_due on sandbox_order (due_at) where due_at is not null;

-- Events, written with what caused them. By day, so that retention is DROP.
create table outbox (
  id uuid not null,
  created_at timestamptz not null,
  customer_id uuid not null,
  operator_id uuid not null,
  shard smallint not null,
  type text not null,
  object text not null,
  object_id uuid not null,
  status text,
  previous_status text,
  amount bigint,
  currency char(3),
  primary key (id, created_at)
) partition by range (created_at);
create table outbox_default partition of outbox default;

-- One row per decided command: yes and no alike (I5). id is a hash of principal, tenant, method, path and key.
-- A yes is answered again from its resource; a no keeps its problem document in answer. By day; a key lives 24 hours,
-- so the days of today and yesterday are looked at.
create table idempotency (
  id uuid not null,
  day date not null,
  fingerprint uuid not null,
  status smallint not null,
  resource_id uuid,
  answer text,
  created_at timestamptz not null,
  primary key (id, day)
) partition by range (day);
create table idempotency_default partition of idempotency default;

-- Order numbers are handed out in blocks, so that a payment costs no round trip for its number.
create sequence order_number_block;
