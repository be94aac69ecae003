-- What waits for the operator's people: money that is held for a review, and outcomes that nobody knows.
--
-- Both are written by the commit with what they are about, and decided on under the lock of their row, whatever node that
-- happens on. Customers see neither.

create table compliance_hold (
  id uuid primary key,
  kind text not null,
  -- Who found something, or asked for it.
  provider text not null,
  status text not null,
  subject_type text not null,
  subject_id uuid not null,
  customer_id uuid not null,
  operator_id uuid not null,
  shard smallint not null,
  currency char(3) not null,
  amount bigint not null,
  counterparty text,
  -- JSON text of what was found.
  findings text not null,
  -- What the sandbox will decide, and when; null where people do.
  sandbox_decision text,
  wake_at timestamptz,
  -- Who was the first to act on it.
  assignee uuid,
  -- JSON text of the first of two persons' words.
  proposal text,
  decided_by uuid,
  decided_by_name text,
  decided_at timestamptz,
  reason text,
  freeze_funds boolean,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index compliance_hold_operator on compliance_hold (operator_id, id);
-- What is open of one customer: held payments still need their recipients.
create index compliance_hold_customer on compliance_hold (customer_id) where status = 'open';
create index compliance_hold_due on compliance_hold (wake_at) where status = 'open' and wake_at is not null;
-- One review of a kind at a time; the gate stops a payment once.
create unique index compliance_hold_open on compliance_hold (subject_id, kind) where status = 'open';
create unique index compliance_hold_gate on compliance_hold (subject_id) where kind = 'outbound_screening';

create table compliance_note (
  id uuid primary key,
  hold_id uuid not null,
  author_id uuid not null,
  author_name text not null,
  text text not null,
  created_at timestamptz not null
);
create index compliance_note_hold on compliance_note (hold_id, id);

create table exception_case (
  id uuid primary key,
  kind text not null,
  code text,
  message text not null,
  status text not null,
  subject_type text not null,
  subject_id uuid not null,
  customer_id uuid not null,
  operator_id uuid not null,
  shard smallint not null,
  currency char(3) not null,
  amount bigint not null,
  assignee uuid,
  -- JSON text of the first of two persons' words.
  proposal text,
  -- It is found out what became of it, and nothing is sent a second time.
  resubmit_forbidden boolean not null default false,
  outcome text,
  -- What came back, minor units, where the outcome is a return.
  outcome_amount bigint,
  evidence text,
  -- Null where the partner's word resolved it.
  resolved_by uuid,
  resolved_by_name text,
  resolved_at timestamptz,
  version integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index exception_case_operator on exception_case (operator_id, id);
create unique index exception_case_open on exception_case (subject_id) where status = 'open';
-- Those of before. Each has the id of its payment, which sorts by time as ids of cases do.
insert into exception_case (id, kind, code, message, status, subject_type, subject_id, customer_id, operator_id, shard, currency, amount, created_at, updated_at)
select p.id, e.said->>'kind', e.said->>'code', e.said->>'message', 'open', 'payment', p.id, p.customer_id, p.operator_id, p.shard, p.currency, p.amount,
    (e.said->>'since')::timestamptz, (e.said->>'since')::timestamptz
  from payment p cross join lateral (select p.exception::json as said) e where p.status = 'exception';

-- Said by people: whatever the partner knows or does not know of it, it is not sent again.
alter table partner_instruction add column resubmit_forbidden boolean not null default false;

-- Whether two people are needed.
alter table operator
  add column compliance_four_eyes_release boolean not null default true,
  add column payments_four_eyes_exceptions boolean not null default true;
