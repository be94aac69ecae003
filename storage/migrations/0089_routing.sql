-- Rules that send payments through other connections than the one where their balance sits.
create table routing_rule (
  id uuid primary key,
  operator_id uuid not null,
  name text,
  priority integer not null,
  -- Conditions; null: any. Amounts are minor units of `currency`.
  currency char(3),
  rail text,
  country char(2),
  customer_type text,
  amount_min bigint,
  amount_max bigint,
  connection_id uuid not null,
  preferred_rail text,
  cost_per_payment bigint,
  cost_bps integer not null default 0,
  daily_volume_max bigint,
  daily_count_max integer,
  enabled boolean not null default true,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_by uuid,
  updated_at timestamptz not null
);
create index routing_rule_operator on routing_rule (operator_id, priority, id);

-- Nodes keep the rules in memory; this tells them to read them again.
create function routing_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('routing_changed', coalesce(to_jsonb(new), to_jsonb(old))->>'operator_id');
  return null;
end
$$;
create trigger routing_changed after insert or update or delete on routing_rule
  for each row execute function routing_changed();

create trigger connection_routes_changed after insert or update or delete on provider_connection
  for each row execute function routing_changed();

-- How a payment was routed; null where it leaves through the connection of its balance by no rule. The index holds the routed
-- payments alone, so that payments without a rule cost nothing more, and no status change writes its columns.
alter table payment add column routing jsonb;
create index payment_routed on payment (connection_id, (routing->>'day')) where routing is not null;
