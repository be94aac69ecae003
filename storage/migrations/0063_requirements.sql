-- The requirements of a case as they were last told, and the time at which they change by themselves: a document expires, a review falls due.
alter table kyb_case
  add column requirements_digest text not null default '',
  add column check_due_at timestamptz;
create index kyb_case_check on kyb_case (check_due_at) where check_due_at is not null;
