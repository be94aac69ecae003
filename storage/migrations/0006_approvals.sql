-- Approvals: what waits for people, who has decided, and the policies that say whom it waits for. Teams, and what people are
-- told.
--
-- An approval is decided under the lock of its row, whatever node that happens on; what the decision does to its subject is
-- written in the same transaction.

create table approval_policy (
  -- Follows from the customer and the kind, so that a policy has an id before it has a row.
  id uuid primary key,
  customer_id uuid not null,
  kind text not null,
  version integer not null,
  -- Enabled, currency, tiers, scope: read whole, never searched.
  terms jsonb not null,
  effective_from timestamptz not null,
  updated_by uuid not null,
  updated_at timestamptz not null,
  constraint approval_policy_unique unique (customer_id, kind)
);

create table approval (
  id uuid primary key,
  customer_id uuid not null,
  operator_id uuid not null,
  shard smallint not null,
  subject_type text not null,
  subject_id uuid not null,
  -- JSON text of what approvers are shown, as it was when the approval opened.
  subject text not null,
  -- What it is about beyond that: a proposed policy, or what the subject is compared with at the end.
  payload text,
  kind text,
  source text not null,
  -- The tier as it was captured; whoever may decide follows from it.
  tier jsonb not null,
  tier_number smallint not null,
  required smallint not null,
  received smallint not null,
  -- False where the amount could not be converted to the currency of the policy.
  converted boolean not null,
  requested_by uuid not null,
  requested_by_name text not null,
  status text not null,
  version integer not null,
  reason text,
  -- How the sandbox's own approver will decide; null where nothing asks for it.
  sandbox_decision text,
  expires_at timestamptz not null,
  -- When the service looks at it next: to tell approvers, to let the sandbox decide, to warn, to let it expire.
  wake_at timestamptz not null,
  announced_at timestamptz,
  warned_at timestamptz,
  reminded_at timestamptz,
  decided_at timestamptz,
  created_at timestamptz not null,
  constraint approval_received_in_range check (received >= 0 and received <= required)
);
create index approval_customer on approval (customer_id, id);
create index approval_operator on approval (operator_id, id);
create index approval_pending on approval (customer_id, id) where status = 'pending';
create index approval_due on approval (wake_at) where status = 'pending';
create index approval_subject on approval (subject_id, id);
-- A subject waits for one approval at a time.
create unique index approval_subject_pending on approval (subject_id) where status = 'pending';

create table approval_decision (
  id uuid primary key,
  approval_id uuid not null,
  customer_id uuid not null,
  user_id uuid not null,
  user_name text not null,
  decision text not null,
  comment text,
  -- Null for the sandbox's own approver.
  step_up_method text,
  decided_at timestamptz not null
);
-- A person decides once.
create unique index approval_decision_once on approval_decision (approval_id, user_id) where step_up_method is not null;
create index approval_decision_approval on approval_decision (approval_id, id);

-- What an approval does to a payment.
alter table payment
  add column status_reason text,
  add column approved_at timestamptz,
  add column cancelled_at timestamptz;

-- ── People ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

create table team (
  id uuid primary key,
  customer_id uuid not null,
  name text not null,
  version integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create unique index team_name_unique on team (customer_id, lower(name));

create table team_member (
  team_id uuid not null,
  membership_id uuid not null,
  customer_id uuid not null,
  primary key (team_id, membership_id)
);
create index team_member_membership on team_member (membership_id);

-- What a person is told within the service; the mail about it goes its own way.
create table notification (
  id uuid primary key,
  user_id uuid not null,
  tenant_id uuid not null,
  type text not null,
  title text not null,
  text text not null,
  object text,
  object_id uuid,
  read_at timestamptz,
  created_at timestamptz not null
);
create index notification_user on notification (user_id, id);

-- ── Limits ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

-- What a customer may pay out, by currency: its own limits, or those of the operator for customers of its type.
create table customer_limit (
  customer_id uuid primary key,
  version integer not null,
  terms jsonb not null,
  updated_by uuid not null,
  updated_at timestamptz not null
);
create table operator_limit (
  operator_id uuid not null,
  customer_type text not null,
  terms jsonb not null,
  updated_at timestamptz not null,
  primary key (operator_id, customer_type)
);

-- What was paid out in a day or month (UTC), for customers that have a limit in the currency. Written by the commit with the
-- payment; whoever would pay more than the limit, on whatever node and from whichever balance, violates the constraint.
create table outflow (
  customer_id uuid not null,
  currency char(3) not null,
  period_kind text not null,
  period_start date not null,
  amount bigint not null,
  max_amount bigint not null,
  primary key (customer_id, currency, period_kind, period_start),
  constraint outflow_within_limit check (amount <= max_amount),
  constraint outflow_not_negative check (amount >= 0)
) with (fillfactor = 70);

-- ── Members ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

alter table membership add column is_primary_owner boolean not null default false;
create unique index membership_primary_owner on membership (tenant_id) where is_primary_owner;

-- Links to become a member. Only the hash of a link is kept.
create table invitation (
  id uuid primary key,
  customer_id uuid not null,
  email text not null,
  email_key text not null,
  role text not null,
  team_ids uuid[] not null,
  token_sha256 bytea not null,
  status text not null,
  version integer not null,
  invited_by uuid not null,
  invited_by_name text not null,
  expires_at timestamptz not null,
  accepted_at timestamptz,
  created_at timestamptz not null,
  constraint invitation_token_unique unique (token_sha256)
);
create index invitation_customer on invitation (customer_id, id);
create unique index invitation_pending on invitation (customer_id, email_key) where status = 'pending';

-- What a customer or a person has set, one document a row. What was never set has no row.
create table setting (
  owner_id uuid not null,
  name text not null,
  version integer not null,
  value jsonb not null,
  updated_by uuid not null,
  updated_at timestamptz not null,
  primary key (owner_id, name)
);

create table customer_address (
  id uuid primary key,
  customer_id uuid not null,
  kind text not null,
  address jsonb not null,
  version integer not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index customer_address_customer on customer_address (customer_id, id);
-- A customer is registered in one place.
create unique index customer_address_registered on customer_address (customer_id) where kind = 'registered';
