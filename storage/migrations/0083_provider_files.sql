-- Files that are exchanged with banks. One that goes out gathers the orders of a connection with a rail and a currency in common until
-- `due_at`, and from then on is worked on until the bank has it; `lease` names the attempt that may go on. One that comes in is read once.
create table provider_file (
  id uuid primary key,
  connection_id uuid not null,
  operator_id uuid not null,
  direction text not null,
  -- What the orders of an outgoing file have in common, such as `sepa EUR`.
  gathers text,
  status text not null,
  name text not null,
  format text,
  message_id text,
  orders integer not null default 0,
  -- Of an outgoing file, whose currency is one: minor units.
  control_sum bigint,
  bytes bigint,
  sha256 bytea,
  -- The time that the bank's file had there.
  modified_at timestamptz,
  stored_file_id uuid,
  -- The name under which the file is written before it gets its own.
  temporary_name text,
  lease uuid,
  error text,
  shard smallint not null,
  due_at timestamptz,
  created_at timestamptz not null,
  done_at timestamptz,
  constraint provider_file_direction check (direction in ('in', 'out')),
  constraint provider_file_due check (direction = 'out' or due_at is null)
);
create unique index provider_file_once on provider_file (connection_id, direction, sha256);
create unique index provider_file_gathering on provider_file (connection_id, gathers) where status = 'gathering';
create index provider_file_due on provider_file (due_at) where due_at is not null;
create index provider_file_name on provider_file (connection_id, direction, name);
create index provider_file_message on provider_file (connection_id, message_id) where direction = 'out';
create trigger task_added after insert or update of due_at on provider_file for each row when (new.due_at is not null)
  execute function add_task('providers.send_file', 'id', 'due_at');

-- The orders that a connection has taken to put them into files: each reference once, which makes a repetition harmless.
create table provider_file_order (
  reference uuid primary key,
  connection_id uuid not null,
  file_id uuid not null,
  place integer not null,
  rail text not null,
  currency char(3) not null,
  amount bigint not null,
  end_to_end_id text not null,
  uetr text,
  -- The block of the file, which the bank may name in place of its orders.
  block_id text,
  -- As the file is to say it.
  body text not null,
  status text not null,
  is_booked boolean not null default false,
  scheme_code text,
  returned_amount bigint,
  bank_ref text,
  contradiction text,
  updated_at timestamptz not null,
  constraint provider_file_order_amount check (amount > 0)
);
create unique index provider_file_order_place on provider_file_order (file_id, place);
create index provider_file_order_end_to_end on provider_file_order (connection_id, end_to_end_id);
create index provider_file_order_uetr on provider_file_order (connection_id, uetr) where uetr is not null;
create index provider_file_order_block on provider_file_order (connection_id, block_id) where block_id is not null;
create index provider_file_order_contradicted on provider_file_order (connection_id, reference) where contradiction is not null;

-- What the bank's files tell, in the order of their numbers, until the inbox has it.
create table provider_file_event (
  id bigint generated always as identity primary key,
  connection_id uuid not null,
  file_id uuid not null,
  place integer not null,
  source text not null,
  type text not null,
  body text not null,
  recorded_at timestamptz not null
);
create index provider_file_event_connection on provider_file_event (connection_id, id);

-- The statements of the bank, one for each account, currency and day, or for each page of it, with their bookings.
create table provider_file_statement (
  id uuid primary key,
  connection_id uuid not null,
  file_id uuid not null,
  currency char(3) not null,
  day date not null,
  number text not null,
  page integer not null,
  is_last boolean not null,
  -- Null on a page that does not begin, or end, its statement.
  opening bigint,
  closing bigint
);
create index provider_file_statement_day on provider_file_statement (connection_id, currency, day);

create table provider_file_booking (
  statement_id uuid not null,
  place integer not null,
  reference uuid,
  direction char(4) not null,
  amount bigint not null,
  booked_on date not null,
  value_date date not null,
  bank_ref text,
  code text,
  text text,
  primary key (statement_id, place)
);

create or replace function add_missing_tasks() returns void language plpgsql as $$
begin
  update job set due_at = due_at
    where due_at is not null and not exists (select from graphile_worker.jobs where key = 'jobs.run:' || job.id);
  update document set scan_due_at = scan_due_at
    where scan_due_at is not null and not exists (select from graphile_worker.jobs where key = 'documents.scan:' || document.id);
  update recipient_review set wake_at = wake_at
    where status = 'pending' and not exists (select from graphile_worker.jobs where key = 'recipients.review:' || recipient_review.id);
  update statement_calendar set due_at = due_at
    where due_at is not null and not exists (select from graphile_worker.jobs where key = 'statements.calendar:' || statement_calendar.shard);
  update reconciliation set status = 'queued'
    where status in ('queued', 'running') and not exists (select from graphile_worker.jobs where key = 'reconciliation.compare:' || reconciliation.id);
  update mail set due_at = due_at
    where due_at is not null and not exists (select from graphile_worker.jobs where key = 'notices.mail:' || mail.id);
  update kyc_event set due_at = due_at
    where due_at is not null and not exists (select from graphile_worker.jobs where key = 'kyc.event:' || kyc_event.id);
  update sandbox_kyc_review set due_at = due_at
    where not exists (select from graphile_worker.jobs where key = 'sandbox.kyc:' || sandbox_kyc_review.subject_id);
  update provider_file set due_at = due_at
    where due_at is not null and not exists (select from graphile_worker.jobs where key = 'providers.send_file:' || provider_file.id);
end
$$;
