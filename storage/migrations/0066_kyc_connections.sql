-- Connections of operators to KYC providers. At most one of an operator reviews its customers; without one its staff do.
create table kyc_connection (
  id uuid primary key,
  operator_id uuid not null,
  provider text not null,
  name text not null,
  status text not null,
  levels jsonb not null default '{}',
  credentials bytea,
  credentials_updated_at timestamptz,
  webhook_secret bytea,
  webhook_secret_updated_at timestamptz,
  probe jsonb,
  verified_at timestamptz,
  activated_at timestamptz,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_by uuid,
  updated_at timestamptz not null
);
create index kyc_connection_operator on kyc_connection (operator_id, id);
create unique index kyc_connection_active on kyc_connection (operator_id) where status = 'active';

-- What providers have sent, as it came: each event once, also those of which nothing is used. An event waits until `due_at` is null.
create table kyc_event (
  id uuid primary key,
  connection_id uuid not null,
  operator_id uuid not null,
  provider_event_id text not null,
  type text not null,
  body bytea not null,
  occurred_at timestamptz,
  received_at timestamptz not null,
  status text not null default 'received',
  reason text,
  customer_id uuid,
  subject_id uuid,
  due_at timestamptz,
  constraint kyc_event_waits check ((due_at is not null) = (status = 'received'))
);
create unique index kyc_event_once on kyc_event (connection_id, provider_event_id);
create index kyc_event_old on kyc_event (received_at);

create trigger task_added after insert or update of due_at on kyc_event for each row when (new.due_at is not null)
  execute function add_task('kyc.event', 'id', 'due_at');

-- The built-in provider reviews in sandboxes: each operator with a connection to the sandbox bank gets it.
insert into kyc_connection (id, operator_id, provider, name, status, verified_at, activated_at, created_at, updated_at)
  select gen_random_uuid(), operator_id, 'sandbox', 'Sandbox', 'active', min(created_at), min(created_at), min(created_at), min(created_at)
  from provider_connection where provider = 'sandbox' group by operator_id;
