-- Recipients that customers make themselves: one row per account, checked by its bank, looked at by people.

alter table recipient
  -- The account in one spelling; with the currency it tells duplicates.
  add column account_identity text,
  -- The last check of its name, and the last review, as they are shown.
  add column verification jsonb,
  add column approval jsonb;
create unique index recipient_account_unique on recipient (customer_id, currency, account_identity) where status <> 'deleted';
create unique index recipient_external_id_unique on recipient (customer_id, external_id) where external_id is not null and status <> 'deleted';

-- What an operator lets its customers do with recipients.
alter table operator
  add column recipient_approval_mode text not null default 'customer_tier',
  add column recipient_require_verification boolean not null default false,
  add column recipient_allowed_overrides text[] not null default '{close_match}';

-- Recipients that the operator's own people look at. A recipient waits for one review at a time.
create table recipient_review (
  id uuid primary key,
  recipient_id uuid not null,
  customer_id uuid not null,
  operator_id uuid not null,
  shard smallint not null,
  status text not null,
  version bigint not null default 1,
  requested_by uuid not null,
  requested_by_name text not null,
  decided_by uuid,
  reason text,
  -- How the sandbox's own approver will decide; null where nothing asks for it.
  sandbox_decision text,
  -- When the service looks at it next: to let the sandbox decide, or to let it expire.
  wake_at timestamptz not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  created_at timestamptz not null
);
create index recipient_review_operator on recipient_review (operator_id, id);
create index recipient_review_due on recipient_review (wake_at) where status = 'pending';
create unique index recipient_review_pending on recipient_review (recipient_id) where status = 'pending';

-- Nodes keep recipients in memory; this tells them which one to forget, or by an empty message all of them. Triggers, so
-- that no way of changing one can leave it out.
create function recipient_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('recipient_changed', old.id::text);
  return null;
end
$$;
create trigger recipient_changed after update of version, status on recipient
  for each row execute function recipient_changed();

create function recipient_policy_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('recipient_changed', '');
  return null;
end
$$;
create trigger recipient_policy_changed after update of recipient_require_verification, recipient_allowed_overrides on operator
  for each row execute function recipient_policy_changed();
