-- What keys have asked for: every call for a week, and counts of them for as long as anybody asks.

-- One row per authenticated call, by day, so that forgetting a day is DROP. Written in batches and without waiting for
-- the disk: a log that a crash shortens by a second has told no lie about money.
create table request_log (
  at timestamptz not null,
  -- A key, or a person who was signed in.
  principal_id uuid not null,
  by_key boolean not null,
  tenant_id uuid not null,
  method text not null,
  route text not null,
  status smallint not null,
  duration_ms real not null,
  request_id text not null
) partition by range (at);
create table request_log_default partition of request_log default;
create index request_log_principal on request_log (principal_id, at);
-- Errors are rare and asked for alone; without this a search for them would read every success on the way.
create index request_log_error on request_log (principal_id, at) where status >= 400;

-- The daily roll-up. It is kept up to date by the batches themselves, in their own transaction: a batch of two thousand
-- calls touches a handful of these rows, while a job that read a busy day's log at midnight would read a hundred million.
-- So a report over ninety days reads only counts, today's included.
create table api_usage_day (
  day date not null,
  api_key_id uuid not null,
  operation_id text not null,
  status smallint not null,
  -- Quarter powers of two of a millisecond: percentiles are right to a tenth.
  duration_step smallint not null,
  requests bigint not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  constraint api_usage_day_pkey primary key (api_key_id, day, operation_id, status, duration_step)
) with (fillfactor = 70);
