-- Connections to banking partners, made and changed by staff. `config` keeps what the service itself reads (calendar, deposits); `settings` is
-- the configuration of the provider's adapter, as its description has it. Credentials and the webhook secret are sealed.
alter table provider_connection
  add column customer_id uuid,
  add column settings jsonb not null default '{}',
  add column fallback_currencies text[] not null default '{}',
  add column contract_model text,
  add column credentials bytea,
  add column credentials_kid text,
  add column credentials_fingerprint text,
  add column credentials_updated_at timestamptz,
  add column webhook_secret bytea,
  add column webhook_secret_updated_at timestamptz,
  add column webhook_registration text not null default 'pending',
  add column verified_at timestamptz,
  add column activated_at timestamptz,
  add column draining_at timestamptz,
  add column retired_at timestamptz,
  add column health text not null default 'healthy';
update provider_connection set verified_at = created_at, activated_at = created_at where status = 'active';

create index provider_connection_operator on provider_connection (operator_id, id);
-- New work without a rule of its own goes to the one active primary of an operator, or of one of its customers.
create unique index provider_connection_primary on provider_connection (operator_id, environment, customer_id) nulls not distinct
  where status = 'active' and role = 'primary';

-- Money of which a partner, or staff, still have to say where it goes: what keeps a connection from retiring.
create index incoming_payment_waiting on incoming_payment (connection_id)
  where return_state in ('due', 'sent') or status in ('unallocated', 'under_review');
