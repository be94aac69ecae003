-- Answers of banks about direct debits, as staff upload them.
create table debit_response (
  -- The id of the job that shows its preview.
  id uuid primary key,
  operator_id uuid not null,
  file_name text not null,
  stored_file_id uuid not null,
  sha256 text not null,
  format text not null,
  status text not null,
  line_count integer not null,
  change_count integer not null,
  trouble_count integer not null,
  uploaded_by uuid not null,
  uploaded_by_name text not null,
  applied_by uuid,
  applied_by_name text,
  applied_at timestamptz,
  apply_job_id uuid,
  created_at timestamptz not null,
  constraint debit_response_two_people check (applied_by <> uploaded_by)
);
create index debit_response_operator on debit_response (operator_id, id);
-- A file is taken once.
create unique index debit_response_hash on debit_response (operator_id, sha256);

create table debit_response_line (
  response_id uuid not null,
  nth integer not null,
  object text not null,
  object_id uuid,
  named text not null,
  connection_id uuid,
  from_status text,
  to_status text,
  reason_code text,
  text text not null,
  fault text,
  -- JSON: the messages that the line asks for.
  messages text not null,
  -- Null until it was applied: what became of it.
  result text,
  primary key (response_id, nth)
);
