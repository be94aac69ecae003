-- Callbacks to integrators: who wants which events, what was sent to whom, and what is still to be sent.
--
--  * outbox.written_in is the transaction of the event. The relay goes by it and not by time: whatever is older than the
--    oldest transaction under way has committed or never will, so an event can neither be skipped nor be relayed twice,
--    whichever of several writers commits first. Rows of one commit share a value, which keeps the index small: it costs
--    1.2 µs an event, of some 87 µs that a payment takes, and is all that payments pay for webhooks.
--  * webhook_delivery is what is shown and grows with time, so it is partitioned by day. webhook_queue holds what is still
--    to be done and stays small: a row is written with the delivery and deleted with its outcome.
--  * A node takes rows of the queue by moving due_at to the end of its claim. Should it die, the claim runs out.

alter table outbox add column written_in xid8 not null default pg_current_xact_id();
create index outbox_written_in on outbox (written_in);

-- Simulated events say so. What a held payment, an approval and the like are about.
alter table outbox
  add column sandbox boolean not null default false,
  add column related_object text,
  add column related_id uuid;
-- Events of an operator's own concern no customer.
alter table outbox alter column customer_id drop not null;

-- How far the relay has come: every event written in a transaction before `position`. One row.
create table webhook_relay (
  position xid8 not null,
  -- When it last moved, by the service's clock; much older partitions need not be looked at.
  moved_at timestamptz
);
insert into webhook_relay (position) values ((pg_current_xact_id()::text::bigint + 1)::text::xid8);

create table webhook_endpoint (
  id uuid primary key,
  level text not null,
  tenant_id uuid not null,
  operator_id uuid not null references operator,
  customer_id uuid references customer,
  shard smallint not null,
  url text not null,
  events text[] not null,
  description text,
  status text not null,
  disabled_reason text,
  status_changed_at timestamptz,
  -- Sealed under the service's own key. The one before signs as well until its time is over.
  secret bytea not null,
  secret_hint text not null,
  previous_secret bytea,
  previous_secret_expires_at timestamptz,
  consecutive_failures integer not null default 0,
  -- The first failed attempt since the last success.
  failing_since timestamptz,
  last_delivery_at timestamptz,
  last_success_at timestamptz,
  api_version text not null,
  version bigint not null default 1,
  created_by uuid not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
) with (fillfactor = 50);
create index webhook_endpoint_tenant on webhook_endpoint (tenant_id, id);

-- One event on its way to one endpoint. `attempts` are JSON texts, the newest first.
create table webhook_delivery (
  id uuid not null,
  created_at timestamptz not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  event_created_at timestamptz not null,
  event_type text not null,
  status text not null,
  test boolean not null default false,
  redelivery boolean not null default false,
  attempt_count integer not null default 0,
  next_attempt_at timestamptz,
  completed_at timestamptz,
  attempts text[] not null default '{}',
  -- Whoever asks for a delivery knows its endpoint, so the list of an endpoint needs no index of its own.
  primary key (endpoint_id, id, created_at)
) partition by range (created_at);
create table webhook_delivery_default partition of webhook_delivery default;

create table webhook_queue (
  delivery_id uuid not null,
  delivery_created_at timestamptz not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  event_created_at timestamptz not null,
  test boolean not null default false,
  shard smallint not null,
  due_at timestamptz not null,
  -- When retrying ends, and how many attempts have been made in this window: a redelivery begins a new one.
  window_ends_at timestamptz not null,
  window_attempts smallint not null default 0,
  -- One index for both, who is next and which one is mine: a claim names the due_at that it wrote.
  primary key (endpoint_id, due_at, delivery_id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
