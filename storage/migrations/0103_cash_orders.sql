-- The cash of payments between balances at two connections (L21). The ledger has moved it with the payment; a leg is booked when the books
-- of its bank have it: by the bank itself, by a statement that shows it, or by staff who have explained the difference.
create table cash_order (
  payment_id uuid primary key,
  operator_id uuid not null,
  shard smallint not null,
  from_connection_id uuid not null,
  to_connection_id uuid not null,
  currency char(3) not null,
  amount bigint not null,
  created_at timestamptz not null,
  -- When the banks are told; null when they were.
  due_at timestamptz,
  from_booked_at timestamptz,
  to_booked_at timestamptz
);
create index cash_order_due on cash_order (due_at) where due_at is not null;
create index cash_order_from on cash_order (from_connection_id) where from_booked_at is null;
create index cash_order_to on cash_order (to_connection_id) where to_booked_at is null;
