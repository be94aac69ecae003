-- What staff decide on KYB cases: the first of two approvals, the last decision, notes, and what screening has found. Times in the
-- documents are epoch milliseconds.
alter table kyb_case
  add column first_approval jsonb,
  add column decision jsonb,
  add column review_due_at timestamptz,
  add column lapsed_at timestamptz;

create table kyb_note (
  id uuid primary key,
  case_id uuid not null,
  operator_id uuid not null,
  author_id uuid not null,
  author_name text not null,
  text text not null,
  created_at timestamptz not null
);
create index kyb_note_case on kyb_note (case_id, id);

create table screening_alert (
  id uuid primary key,
  case_id uuid not null,
  customer_id uuid not null,
  operator_id uuid not null,
  provider text not null,
  list text not null,
  name text not null,
  score double precision not null,
  status text not null default 'open',
  proposal jsonb,
  decision jsonb,
  version bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
-- A hit that is reported again opens nothing.
create unique index screening_alert_hit on screening_alert (case_id, list, name);

-- The months between two reviews of a customer, by its risk.
alter table operator
  add column kyb_review_months_low integer not null default 36,
  add column kyb_review_months_medium integer not null default 24,
  add column kyb_review_months_high integer not null default 12;

-- A customer's case is looked at again when its review falls due, and before that to remind its people.
create trigger task_added after insert or update of review_due_at on kyb_case for each row when (new.review_due_at is not null)
  execute function add_task('onboarding.review', 'id', 'review_due_at');
