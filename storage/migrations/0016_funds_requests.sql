-- Money that customers ask of people outside. Whoever pays quotes the reference; the link leads to a page without a sign-in,
-- and of its token only the hash is here.
create table funds_request (
  id uuid primary key,
  customer_id uuid not null,
  operator_id uuid not null,
  shard smallint not null,
  number text not null,
  external_id text,
  status text not null,
  version bigint not null default 1,
  balance_id uuid not null,
  currency char(3) not null,
  amount bigint not null,
  paid_amount bigint not null default 0,
  payer_name text not null,
  payer_email text,
  payer_recipient_id uuid,
  description text not null,
  invoice_number text,
  due_date date,
  expires_at timestamptz not null,
  allow_partial boolean not null,
  reference text not null,
  link_sha256 bytea not null,
  reminders_sent smallint not null default 0,
  last_reminded_at timestamptz,
  metadata jsonb not null default '{}',
  created_by uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint funds_request_amount_positive check (amount > 0),
  constraint funds_request_paid_positive check (paid_amount >= 0)
);
create index funds_request_customer on funds_request (customer_id, id);
create index funds_request_due on funds_request (customer_id, coalesce(due_date, 'infinity'::date), id);
create unique index funds_request_external_id_unique on funds_request (customer_id, external_id) where external_id is not null;
create unique index funds_request_reference_unique on funds_request (reference);
create unique index funds_request_link_unique on funds_request (link_sha256);
create index funds_request_waiting on funds_request (customer_id) where status in ('open', 'partially_paid');
create index funds_request_expiring on funds_request (expires_at) where status in ('open', 'partially_paid');

-- What was paid towards one: each arrival counts once, for one request.
create table funds_request_payment (
  incoming_payment_id uuid primary key,
  funds_request_id uuid not null,
  amount bigint not null,
  at timestamptz not null,
  constraint funds_request_payment_amount_positive check (amount > 0)
);
create index funds_request_payment_request on funds_request_payment (funds_request_id);

-- Arrivals are matched with requests by their events, beside the commits that book them. How far that has come. One row.
create table funds_request_matching (
  position xid8 not null,
  moved_at timestamptz
);
insert into funds_request_matching (position) values ((pg_current_xact_id()::text::bigint + 1)::text::xid8);
