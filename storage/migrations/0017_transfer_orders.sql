-- Transfers that travel by the partner: between balances on two connections, or as the sandbox was told.
alter table transfer
  -- Why it failed, a JSON document as it is shown.
  add column failure text;

-- What the partner has to be told or asked about a transfer, and when next; null when that is over. sent_at: it may know of it.
create table transfer_order (
  transfer_id uuid primary key,
  shard smallint not null,
  hold_id uuid not null,
  from_connection_id uuid not null,
  to_connection_id uuid not null,
  sent_at timestamptz,
  due_at timestamptz,
  attempts smallint not null default 0
);
create index transfer_order_due on transfer_order (due_at) where due_at is not null;

-- The sandbox bank's own book of such transfers. Nothing of ours reads it except through the port.
create table sandbox_transfer (
  reference uuid primary key,
  currency char(3) not null,
  amount bigint not null,
  -- What it said when it was asked: accepted, or nothing.
  state text not null,
  outcome text not null,
  scheme_code text,
  -- From when on it knows the outcome.
  due_at timestamptz not null,
  received_at timestamptz not null
);
