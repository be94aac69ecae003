-- Second factors of WebAuthn and recovery codes beside authenticator apps, and the method of each proof.

-- An authenticator of WebAuthn has a public key in place of a secret. Each credential is one factor of one person.
alter table mfa_factor
  alter column secret drop not null,
  add column version bigint not null default 1,
  add column credential_id bytea,
  add column public_key bytea,
  add column sign_count bigint not null default 0,
  add column transports text[] not null default '{}',
  add constraint mfa_factor_credential_unique unique (credential_id);

alter table challenge add column method text;
update challenge set method = 'totp' where verified_at is not null;
alter table session add column mfa_method text;
update session s set mfa_method = 'totp'
  from challenge c where c.session_id = s.id and c.action = 'sign_in' and c.verified_at is not null;

-- Keyed hashes of codes. A used code stays, so that the codes that are left can be counted, until new ones replace all.
create table recovery_code (
  user_id uuid not null references platform_user,
  code_hash bytea not null,
  created_at timestamptz not null,
  used_at timestamptz,
  primary key (user_id, code_hash)
);
