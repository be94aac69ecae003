-- What providers have told, as it came: webhooks, polls, files and statements alike, each event once. An event waits until `due_at` is null.
create table provider_inbox (
  id uuid primary key,
  connection_id uuid not null,
  operator_id uuid not null,
  shard smallint not null,
  source text not null,
  partner_event_id text not null,
  type text not null,
  hash bytea not null,
  headers jsonb not null default '{}',
  body bytea not null,
  verified_by text not null,
  status text not null,
  reason text,
  error text,
  attempts smallint not null default 0,
  assigned_id uuid,
  decided_by uuid,
  decision_reason text,
  version integer not null default 1,
  occurred_at timestamptz,
  received_at timestamptz not null,
  processed_at timestamptz,
  due_at timestamptz,
  constraint provider_inbox_waits check ((due_at is not null) = (status in ('received', 'verified')))
);
create unique index provider_inbox_once on provider_inbox (connection_id, partner_event_id);
create unique index provider_inbox_hash on provider_inbox (connection_id, hash);
create index provider_inbox_due on provider_inbox (due_at) where due_at is not null;
create index provider_inbox_list on provider_inbox (operator_id, received_at, id);
create index provider_inbox_open on provider_inbox (operator_id, received_at, id) where status in ('ignored', 'failed');
create index provider_inbox_old on provider_inbox (received_at);

create trigger work_inserted after insert on provider_inbox for each row when (new.due_at is not null) execute function work_due('provider_inbox');
create trigger work_hastened after update of due_at on provider_inbox for each row when (new.due_at < coalesce(old.due_at, 'infinity'))
  execute function work_due('provider_inbox');

-- The messages of an event, with what each has changed.
create table provider_inbox_message (
  event_id uuid not null,
  nth smallint not null,
  message_id uuid,
  type text not null,
  reference text,
  object text,
  object_id uuid,
  scheme_code text,
  amount bigint,
  outcome text not null,
  status_before text,
  status_after text,
  note text,
  primary key (event_id, nth)
);
create index provider_inbox_message_object on provider_inbox_message (object_id);
create index provider_inbox_message_once on provider_inbox_message (message_id);

-- Messages that name the provider's own reference alone. The built-in sandbox has none, so its payments are in neither index.
create index payment_provider_ref on payment (connection_id, provider_ref) where provider_ref is not null;
create index exchange_provider_ref on exchange (connection_id, provider_ref) where provider_ref is not null;
-- The return of a credit that its provider names by its own reference of the credit.
create index incoming_payment_returned on incoming_payment (connection_id, end_to_end_id) where return_state is not null;
