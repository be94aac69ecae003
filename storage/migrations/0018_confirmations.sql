-- Confirmations as they were first rendered, one for each version of what they confirm: a payment that comes back gets
-- another one, and whoever asks again gets the same bytes.
create table confirmation (
  object_id uuid not null,
  version bigint not null,
  customer_id uuid not null,
  pdf bytea not null,
  created_at timestamptz not null,
  primary key (object_id, version)
);
