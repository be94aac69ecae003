-- Entries that the operator's treasury makes by hand: one person asks, another approves (lib/adjustments).
create table adjustment (
  id uuid primary key,
  operator_id uuid not null,
  kind text not null,
  status text not null default 'pending_approval',
  rule text not null,
  currency char(3) not null,
  -- Null for a period that is not closed yet.
  amount bigint,
  balance_id uuid,
  customer_id uuid,
  connection_id uuid,
  period text,
  break_id uuid,
  -- The entry that is reversed.
  entry_id uuid,
  description text not null,
  reason text not null,
  document_ids uuid[] not null default '{}',
  requested_by uuid not null,
  requested_by_name text not null,
  decided_by uuid,
  decided_by_name text,
  decided_at timestamptz,
  decision_reason text,
  entry_ids uuid[] not null default '{}',
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint adjustment_status check (status in ('pending_approval', 'posted', 'rejected')),
  constraint adjustment_amount_positive check (amount > 0),
  constraint adjustment_two_people check (decided_by <> requested_by)
);
create index adjustment_operator on adjustment (operator_id, id);
-- An entry is reversed once, and a difference explained once.
create unique index adjustment_of_entry on adjustment (entry_id) where entry_id is not null and status <> 'rejected';
create unique index adjustment_of_break on adjustment (break_id) where break_id is not null and status <> 'rejected';
