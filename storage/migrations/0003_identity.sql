-- People, their sessions and second factors, what they did, and everything an API key can be told.
--
-- Secrets are never here in a form that could be used: passwords as argon2id, session and reset tokens and API keys as
-- SHA-256 of 256 random bits, secrets of second factors sealed under the service's own key.

create table platform_user (
  id uuid primary key,
  -- As it was written, and folded so that one address is one person.
  email text not null,
  email_key text not null,
  name text not null,
  phone text,
  locale text not null default 'en',
  -- argon2id in its PHC form; null until the person has chosen a password.
  password_hash text,
  password_changed_at timestamptz,
  status text not null,
  version bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint platform_user_email_unique unique (email_key)
);

-- What a person may do for a tenant: a customer (members) or the operator itself (staff).
create table membership (
  id uuid primary key,
  user_id uuid not null references platform_user,
  level text not null,
  tenant_id uuid not null,
  operator_id uuid not null references operator,
  role text not null,
  status text not null,
  version bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint membership_unique unique (tenant_id, user_id)
);
create index membership_user on membership (user_id, id);

create table mfa_factor (
  id uuid primary key,
  user_id uuid not null references platform_user,
  kind text not null,
  name text not null,
  status text not null,
  secret bytea not null,
  -- The newest time step whose code was taken; a code is good once.
  last_step bigint not null default 0,
  created_at timestamptz not null,
  last_used_at timestamptz
);
create index mfa_factor_user on mfa_factor (user_id, id);

-- `idle` and `expired` follow from the times, so nothing has to happen for a session to end.
create table session (
  id uuid primary key,
  user_id uuid not null references platform_user,
  token_sha256 bytea not null,
  status text not null,
  device_name text,
  device_id text,
  address text not null,
  user_agent text,
  created_at timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  constraint session_token_unique unique (token_sha256)
);
create index session_by_user on session (user_id, id);

-- Proofs of a second factor that are asked for: at sign-in, and before an action.
create table challenge (
  id uuid primary key,
  session_id uuid not null references session on delete cascade,
  user_id uuid not null,
  tenant_id uuid,
  action text not null,
  subject_type text,
  subject_id uuid,
  wrong_codes smallint not null default 0,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  verified_at timestamptz
);
create index challenge_session on challenge (session_id, action);
create index challenge_user on challenge (user_id, created_at);

-- Failed sign-ins by address of the attempt, whether a person has it or not: both leave the same trace in the same time.
create table login_attempt (
  email_sha256 bytea primary key,
  failures smallint not null,
  locked_until timestamptz,
  updated_at timestamptz not null
);
create index login_attempt_age on login_attempt (updated_at);

create table password_reset (
  token_sha256 bytea primary key,
  user_id uuid not null references platform_user,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index password_reset_user on password_reset (user_id);

-- What people changed. Kept for good; written in the transaction of the change.
create table audit_event (
  id uuid primary key,
  tenant_id uuid,
  operator_id uuid,
  customer_id uuid,
  actor_type text not null,
  actor_id uuid not null,
  actor_name text not null,
  action text not null,
  object_type text not null,
  object_id uuid not null,
  before text,
  after text,
  address text,
  request_id text,
  created_at timestamptz not null
);
create index audit_event_customer on audit_event (customer_id, id);
create index audit_event_operator on audit_event (operator_id, id);

-- ── API keys ────────────────────────────────────────────────────────────────────────────────────────────────────────────

alter table api_key
  add column ip_allowlist text[] not null default '{}',
  add column version bigint not null default 1,
  add column grace_ends_at timestamptz,
  add column replaced_by_id uuid,
  add column replaces_id uuid,
  add column last_used_at timestamptz,
  add column last_used_ip text,
  add column revoked_at timestamptz,
  add column revoked_by uuid;
create index api_key_tenant on api_key (tenant_id, id);
create index api_key_tenant_name on api_key (tenant_id, lower(name), id);

-- Nodes keep keys in memory; this tells them which one to forget. A trigger, so that no way of changing a key can leave it
-- out. Noting a use changes nothing that is kept in memory and therefore says nothing.
create function api_key_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('api_key_changed', encode(old.sha256, 'hex'));
  return null;
end
$$;
create trigger api_key_changed after delete or update of name, status, scopes, ip_allowlist, expires_at, grace_ends_at on api_key
  for each row execute function api_key_changed();
