-- Cards, their transactions, and the messages of the network about them. The numbers of cards are kept by the issuer
-- and are nowhere here.
create table card (
  id uuid primary key,
  customer_id uuid not null,
  operator_id uuid not null,
  connection_id uuid not null,
  shard smallint not null,
  balance_id uuid not null,
  currency char(3) not null,
  holder_user_id uuid not null,
  type text not null,
  label text,
  status text not null,
  version integer not null default 1,
  last4 char(4) not null,
  -- The last month of validity, YYYY-MM.
  expiry char(7) not null,
  network_token_ref text,
  limits jsonb not null,
  controls jsonb not null,
  cancel_after_payments integer,
  payments integer not null default 0,
  -- The sums of the current periods, changed by the commit of each authorisation.
  used jsonb not null default '[]',
  close_reason text,
  replaces_card_id uuid,
  replaced_by_card_id uuid,
  created_by uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint card_status check (status in ('inactive', 'active', 'frozen', 'blocked', 'expired', 'closed')),
  constraint card_payments check (payments >= 0)
);
create index card_customer on card (customer_id, id);
create index card_holder on card (customer_id, holder_user_id, id);
create index card_balance on card (balance_id, id);
create index card_expiring on card (expiry) where status not in ('expired', 'closed');

create table card_transaction (
  id uuid primary key,
  version integer not null,
  card_id uuid not null,
  customer_id uuid not null,
  operator_id uuid not null,
  connection_id uuid not null,
  shard smallint not null,
  balance_id uuid not null,
  currency char(3) not null,
  ref text not null,
  status text not null,
  network text not null,
  channel text not null,
  mcc char(4) not null,
  merchant_name text not null,
  merchant_country char(2),
  merchant_amount bigint not null,
  merchant_currency char(3) not null,
  rate numeric(20, 10),
  markup bigint not null,
  authorised bigint not null,
  reversed bigint not null,
  cleared bigint not null,
  refunded bigint not null,
  disputed bigint not null,
  recovered bigint not null,
  held bigint not null,
  hold_id uuid,
  expires_at timestamptz,
  authorised_at timestamptz not null,
  decline_reason text,
  related_transaction_id uuid,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint card_transaction_ref unique (connection_id, ref),
  constraint card_transaction_sums check (
    least(authorised, reversed, cleared, refunded, disputed, recovered, held) >= 0
    and held <= greatest(authorised - reversed - cleared, 0)
  ),
  constraint card_transaction_hold check ((held > 0) = (hold_id is not null))
);
create index card_transaction_customer on card_transaction (customer_id, id);
create index card_transaction_card on card_transaction (card_id, id);
create index card_transaction_expiry on card_transaction (expires_at) where expires_at is not null;

create table card_event (
  id uuid primary key,
  transaction_id uuid not null,
  phase text not null,
  amount bigint not null,
  fee bigint not null,
  decline_reason text,
  at timestamptz not null
);
create index card_event_transaction on card_event (transaction_id, at, id);

alter table fee_rule
  drop constraint fee_rule_kind,
  add constraint fee_rule_kind check (kind in (
    'payment', 'incoming_payment', 'payment_return', 'exchange', 'partner_charge', 'collection_return',
    'card_purchase', 'card_withdrawal', 'card_conversion'
  )),
  drop constraint fee_rule_tax,
  add constraint fee_rule_tax check (
    tax_bps between 0 and 10000
    and (kind in ('payment', 'card_purchase', 'card_withdrawal', 'card_conversion') or tax_bps = 0)
  );
