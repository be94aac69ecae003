-- The migration of a connection's balances to another: two people ask for it, a job does it. The row of a balance is its move, with the
-- amount that the ledger moved (L96).
alter table provider_connection add column migration jsonb;

create table connection_move (
  id uuid primary key,
  operator_id uuid not null,
  from_connection_id uuid not null,
  to_connection_id uuid not null,
  job_id uuid not null,
  balance_id uuid not null,
  currency char(3) not null,
  amount bigint not null,
  moved_at timestamptz not null
);
create index connection_move_from on connection_move (from_connection_id, id);
