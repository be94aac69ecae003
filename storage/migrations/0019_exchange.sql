-- Foreign exchange: quotes, exchanges of all kinds, and what the partner is told of them.

-- Firm quotes. Written once and never changed: that one was used is the row of its exchange. By day, so that retention is DROP;
-- the day is that of the id, a UUIDv7, so whoever knows a quote by its id knows where it is.
create table quote (
  id uuid not null,
  day date not null,
  customer_id uuid not null,
  connection_id uuid not null,
  kind text not null,
  sell_currency char(3) not null,
  buy_currency char(3) not null,
  sell_amount bigint not null,
  buy_amount bigint not null,
  rate numeric(20, 10) not null,
  -- What the partner gives the operator.
  partner_rate numeric(20, 10) not null,
  fixed_side text not null,
  fee bigint not null,
  settlement_date date,
  deposit_required bigint,
  hold_minutes integer,
  sell_balance_id uuid,
  buy_balance_id uuid,
  expires_at timestamptz not null,
  created_at timestamptz not null,
  primary key (id, day)
) partition by range (day);
create table quote_default partition of quote default;

create table exchange (
  id uuid primary key,
  customer_id uuid not null,
  operator_id uuid not null,
  connection_id uuid not null,
  shard smallint not null,
  number text not null,
  external_id text,
  kind text not null,
  status text not null,
  version integer not null,
  quote_id uuid,
  -- Of a drawdown: its contract.
  parent_exchange_id uuid,
  -- The payment that is made of what it buys.
  payment_id uuid,
  sell_balance_id uuid not null,
  buy_balance_id uuid not null,
  sell_currency char(3) not null,
  buy_currency char(3) not null,
  sell_amount bigint not null,
  buy_amount bigint not null,
  rate numeric(20, 10) not null,
  partner_rate numeric(20, 10) not null,
  fixed_side text not null,
  -- In the currency sold.
  fee bigint not null,
  -- What reserves its money while it waits for people.
  hold_id uuid,
  approval_id uuid,
  trade_date date not null,
  settlement_date date not null,
  settled_at timestamptz,
  reference text,
  -- Contracts: what was drawn and what is left.
  drawdown_count integer not null default 0,
  remaining_sell bigint,
  remaining_buy bigint,
  forward_type text,
  drawdown_from date,
  held_until timestamptz,
  deposit_status text,
  deposit_currency char(3),
  deposit_required bigint,
  deposit_received bigint not null default 0,
  -- Of what was received, what is with the partner.
  deposit_placed bigint not null default 0,
  deposit_due_at timestamptz,
  -- When something of it is due by itself.
  due_at timestamptz,
  -- Of a drawdown: what of its contract's deposit paid for it, and what of that the partner holds.
  deposit_used bigint not null default 0,
  deposit_placed_used bigint not null default 0,
  failure text,
  exception text,
  provider_ref text,
  -- What the partner booked.
  partner_sold bigint,
  partner_bought bigint,
  created_by uuid not null,
  created_via text not null,
  metadata jsonb,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint exchange_amounts_positive check (sell_amount > 0 and buy_amount > 0 and fee >= 0),
  constraint exchange_currencies_differ check (sell_currency <> buy_currency),
  constraint exchange_remaining check (remaining_sell >= 0 and remaining_sell <= sell_amount and remaining_buy >= 0 and remaining_buy <= buy_amount),
  constraint exchange_deposit check (deposit_placed >= 0 and deposit_placed <= deposit_received and deposit_placed_used >= 0 and deposit_placed_used <= deposit_used)
) with (fillfactor = 60);
create index exchange_customer on exchange (customer_id, id);
create index exchange_customer_settlement on exchange (customer_id, settlement_date, id);
create index exchange_parent on exchange (parent_exchange_id, id) where parent_exchange_id is not null;
create index exchange_payment on exchange (payment_id) where payment_id is not null;
create index exchange_due on exchange (due_at) where due_at is not null;
create unique index exchange_number_unique on exchange (number);
create unique index exchange_external_id_unique on exchange (customer_id, external_id) where external_id is not null;
-- A quote is used once, on however many nodes it is tried.
create unique index exchange_quote_unique on exchange (quote_id) where quote_id is not null;
create index exchange_search on exchange using gin (search_words(customer_id, number || ' ' || coalesce(reference, '')));

-- What the partner has to be told or asked about an exchange, and when next; gone when it has come to its end. sent_at: the
-- partner may know of it.
create table fx_order (
  exchange_id uuid primary key,
  shard smallint not null,
  due_at timestamptz not null,
  sent_at timestamptz,
  attempts smallint not null default 0
) with (fillfactor = 70);
create index fx_order_due on fx_order (due_at);

-- How far the rate of a pair is from its base rate, in hundredths of a per cent. The inverse pair is the same row.
create table fx_rate_shift (
  connection_id uuid not null,
  sell_currency char(3) not null,
  buy_currency char(3) not null,
  shift_bps integer not null,
  -- Back at the base rate from then on; null: until it is shifted again.
  until timestamptz,
  primary key (connection_id, sell_currency, buy_currency)
);
-- Nodes keep rates in memory, and what a customer may exchange; this tells them to read it again. Triggers, so that no way of
-- changing either can leave it out.
create function exchange_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('exchange_changed', tg_argv[0] || ' ' || case tg_argv[0]
    when 'rates' then coalesce(to_jsonb(new), to_jsonb(old))->>'connection_id' when 'currencies' then to_jsonb(new)->>'owner_id' else to_jsonb(new)->>'id' end);
  return null;
end
$$;
create trigger fx_rates_changed after insert or update or delete on fx_rate_shift
  for each row execute function exchange_changed('rates');
create trigger currencies_changed after insert or update on setting
  for each row when (new.name = 'currencies') execute function exchange_changed('currencies');
create trigger connection_changed after update on provider_connection
  for each row execute function exchange_changed('connection');

-- What an operator sets for exchanges.
alter table operator
  add column exchange_quote_seconds integer not null default 30,
  add column exchange_margin_bps integer not null default 50,
  add column exchange_approval_tolerance_bps integer not null default 50,
  add column exchange_held_rate_default_minutes integer not null default 60,
  add column exchange_held_rate_max_minutes integer not null default 1440,
  add column exchange_forward_deposit_bps integer not null default 500,
  add column exchange_margin_call_bps integer not null default 300,
  add column exchange_max_tenor_months integer not null default 12,
  add column exchange_min_sell_eur bigint not null default 1000000;

-- The sandbox's own book of exchanges. Nothing of ours reads it except through the port.
create table sandbox_fx_order (
  reference uuid primary key,
  shard smallint not null,
  sell_currency char(3) not null,
  buy_currency char(3) not null,
  -- What it takes and gives.
  sold bigint not null,
  bought bigint not null,
  -- What it has said: nothing (`unanswered`), `accepted`, `settled`, `refused`, `unclear`.
  state text not null,
  -- What it says next, and when.
  next_event text,
  reason text,
  due_at timestamptz,
  -- Counts its messages; part of their ids.
  event_number smallint not null default 0,
  received_at timestamptz not null
) with (fillfactor = 70);
create index sandbox_fx_order_due on sandbox_fx_order (due_at) where due_at is not null;
