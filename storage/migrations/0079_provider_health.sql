-- What nodes saw of the calls to a partner, counted by slots of time: a row for a connection and a slot, to which every node adds.
-- `latencies` counts the calls by the bounds of lib/providers/health.ts.
create table provider_call_count (
  connection_id uuid not null,
  slot timestamptz not null,
  calls integer not null,
  errors integer not null,
  latencies integer[] not null,
  primary key (connection_id, slot)
);

-- The health of a connection beyond its state, which the connection itself has: it changes with every probe, and nobody is told.
create table provider_health (
  connection_id uuid primary key references provider_connection on delete cascade,
  failures_in_row integer not null default 0,
  probe jsonb,
  probed_at timestamptz,
  last_error text,
  last_error_at timestamptz,
  changed_at timestamptz
);
