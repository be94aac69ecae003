-- Work that is asked for now and done soon, and the statements it makes.

-- A job waits, runs under a lease and is over. due_at is when it may be taken up: at once when it was asked for, when the
-- lease of the node that runs it has lapsed, when another try is due; none when it is over.
create table job (
  id uuid primary key,
  tenant_id uuid not null,
  operator_id uuid not null,
  customer_id uuid,
  shard smallint not null,
  kind text not null,
  status text not null,
  version integer not null default 1,
  request text not null,
  fingerprint uuid,
  subject_object text,
  subject_id uuid,
  processed bigint not null default 0,
  total bigint,
  result text,
  file_id uuid,
  error text,
  requested_by uuid not null,
  request_id text,
  attempts smallint not null default 0,
  due_at timestamptz,
  lease uuid,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  expires_at timestamptz
);
create index job_tenant on job (tenant_id, id);
create index job_waiting on job (tenant_id, id) where due_at is not null;
create index job_due on job (due_at) where due_at is not null;
create index job_ended on job (expires_at) where expires_at is not null;
-- Who asks for the same again while it is under way gets the same job.
create unique index job_open on job (tenant_id, fingerprint) where due_at is not null and fingerprint is not null;

-- A statement is the lines of a balance from one sequence to another; which ones never changes, so every file of it says
-- the same. Without lines, last_sequence is the one before first_sequence. Monthly ones follow on one another without a gap.
create table statement (
  id uuid primary key,
  customer_id uuid not null,
  operator_id uuid not null,
  balance_id uuid not null,
  kind text not null,
  sequence_number integer not null,
  period_from date not null,
  period_to date not null,
  currency char(3) not null,
  first_sequence bigint not null,
  last_sequence bigint not null,
  opening bigint not null,
  closing bigint not null,
  credits numeric(38) not null,
  debits numeric(38) not null,
  credit_count bigint not null,
  debit_count bigint not null,
  largest bigint not null,
  holder text not null,
  status text not null,
  version integer not null default 1,
  job_id uuid,
  created_at timestamptz not null,
  constraint statement_number_unique unique (balance_id, kind, sequence_number),
  constraint statement_adds_up check (opening + credits - debits = closing),
  constraint statement_lines check (last_sequence - first_sequence + 1 = credit_count + debit_count)
);
create index statement_balance on statement (balance_id, period_to, id);
create unique index statement_month on statement (balance_id, period_to) where kind = 'monthly';
create unique index statement_job on statement (job_id);

-- The files of a statement, one for each format.
create table statement_file (
  statement_id uuid not null,
  format text not null,
  file_id uuid not null,
  primary key (statement_id, format)
);

-- How far each shard has come with the statements of a month: due_at is when those of `month` are due, after_balance the
-- last balance whose job was asked for.
create table statement_calendar (
  shard smallint primary key,
  month date not null,
  due_at timestamptz not null,
  after_balance uuid
);
create index balance_shard on balance (shard, id);
