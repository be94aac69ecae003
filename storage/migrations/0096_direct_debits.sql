-- Direct debits that customers collect, and the mandates that they pay by.
create table mandate (
  id uuid primary key,
  customer_id uuid not null,
  operator_id uuid not null,
  connection_id uuid not null,
  shard smallint not null,
  direction text not null,
  scheme text not null,
  status text not null,
  -- Moves with every write, also of its collections; `terms_version` with the changes by people.
  version integer not null,
  terms_version integer not null default 1,
  reference text not null,
  balance_id uuid not null,
  currency char(3) not null,
  -- JSON: name, kind, account, address.
  counterparty text not null,
  management text not null,
  sequence_type text not null,
  amount_limit bigint,
  consent_type text,
  authorisation_source text,
  signed_at timestamptz,
  document_id uuid,
  creditor_id text,
  creditor_name text,
  provider_ref text,
  status_reason text,
  submitted_at timestamptz,
  activated_at timestamptz,
  cancelled_at timestamptz,
  last_collection_at timestamptz,
  last_presented_at timestamptz,
  presented_count integer not null default 0,
  pending_count integer not null default 0,
  submitted_count integer not null default 0,
  history text not null,
  pending_amendment text,
  due_at timestamptz,
  created_by uuid not null,
  created_via text not null,
  metadata jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint mandate_counts check (presented_count >= 0 and pending_count >= 0 and submitted_count >= 0)
);
create index mandate_customer on mandate (customer_id, id);
create index mandate_balance on mandate (balance_id, id);
create index mandate_due on mandate (due_at) where due_at is not null;
create index mandate_provider_ref on mandate (connection_id, provider_ref) where provider_ref is not null;
-- A reference names one mandate of a creditor, as banks report by it; references of payers' mandates are their creditors'.
create unique index mandate_reference_unique on mandate (operator_id, scheme, reference) where direction = 'collect';
create index mandate_customer_reference on mandate (customer_id, reference);

create table collection (
  id uuid primary key,
  customer_id uuid not null,
  operator_id uuid not null,
  connection_id uuid not null,
  shard smallint not null,
  number text not null,
  external_id text,
  mandate_id uuid not null,
  balance_id uuid not null,
  scheme text not null,
  currency char(3) not null,
  amount bigint not null,
  status text not null,
  version integer not null,
  due_date date not null,
  submission_deadline timestamptz not null,
  sequence_type text not null,
  reference text not null,
  end_to_end_id text not null,
  status_reason text,
  pre_notification text,
  file_id uuid,
  provider_ref text,
  retry text,
  attempts text not null default '[]',
  next_attempt_at timestamptz,
  r_transactions text not null default '[]',
  returned_amount bigint not null default 0,
  refundable_until date,
  reserve_hold_id uuid,
  reserve_until timestamptz,
  exception text,
  submitted_at timestamptz,
  collected_at timestamptz,
  returned_at timestamptz,
  failed_at timestamptz,
  cancelled_at timestamptz,
  reversed_at timestamptz,
  due_at timestamptz,
  created_by uuid not null,
  created_via text not null,
  metadata jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint collection_amounts check (amount > 0 and returned_amount >= 0)
);
create index collection_customer on collection (customer_id, id);
create index collection_customer_due on collection (customer_id, due_date, id);
create index collection_mandate on collection (mandate_id, id);
create index collection_pending on collection (mandate_id, due_date) where status = 'pending';
create index collection_due on collection (due_at) where due_at is not null;
create index collection_file on collection (file_id, id) where file_id is not null;
create index collection_provider_ref on collection (connection_id, provider_ref) where provider_ref is not null;
create unique index collection_number_unique on collection (number);
create unique index collection_external_id_unique on collection (customer_id, external_id) where external_id is not null;
