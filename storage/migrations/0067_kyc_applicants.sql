-- Whoever a KYC provider reviews, the customer of a case or a person of it, with what the provider has told last.
create table kyc_applicant (
  subject_id uuid primary key,
  case_id uuid not null,
  person_id uuid,
  customer_id uuid not null,
  operator_id uuid not null,
  connection_id uuid not null,
  applicant_id text,
  review jsonb,
  heard_at timestamptz,
  asked_at timestamptz,
  constraint kyc_applicant_subject check (subject_id = coalesce(person_id, case_id))
);
create index kyc_applicant_customer on kyc_applicant (customer_id);
create index kyc_applicant_provider on kyc_applicant (connection_id, applicant_id);

-- The book of the built-in provider: the reviews that it will report.
create table sandbox_kyc_review (
  subject_id uuid primary key,
  connection_id uuid not null,
  operator_id uuid not null,
  applicant_id text not null,
  review jsonb not null,
  due_at timestamptz not null
);
create trigger task_added after insert or update of due_at on sandbox_kyc_review for each row when (new.due_at is not null)
  execute function add_task('sandbox.kyc', 'subject_id', 'due_at');

create or replace function add_missing_tasks() returns void language plpgsql as $$
begin
  update job set due_at = due_at
    where due_at is not null and not exists (select from graphile_worker.jobs where key = 'jobs.run:' || job.id);
  update document set scan_due_at = scan_due_at
    where scan_due_at is not null and not exists (select from graphile_worker.jobs where key = 'documents.scan:' || document.id);
  update recipient_review set wake_at = wake_at
    where status = 'pending' and not exists (select from graphile_worker.jobs where key = 'recipients.review:' || recipient_review.id);
  update statement_calendar set due_at = due_at
    where due_at is not null and not exists (select from graphile_worker.jobs where key = 'statements.calendar:' || statement_calendar.shard);
  update reconciliation set status = 'queued'
    where status in ('queued', 'running') and not exists (select from graphile_worker.jobs where key = 'reconciliation.compare:' || reconciliation.id);
  update mail set due_at = due_at
    where due_at is not null and not exists (select from graphile_worker.jobs where key = 'notices.mail:' || mail.id);
  update kyc_event set due_at = due_at
    where due_at is not null and not exists (select from graphile_worker.jobs where key = 'kyc.event:' || kyc_event.id);
  update sandbox_kyc_review set due_at = due_at
    where not exists (select from graphile_worker.jobs where key = 'sandbox.kyc:' || sandbox_kyc_review.subject_id);
end
$$;
