-- Mails wait here from the commit of their cause until the mail server has taken or refused them. The text is gone then: it may hold a
-- link that is a credential. A mail of a notice holds the text that its notification shows as well; every other text is sealed.
create table mail (
  id uuid primary key,
  tenant_id uuid,
  recipient text not null,
  subject text not null,
  text text,
  sealed_text bytea,
  status text not null default 'waiting',
  due_at timestamptz,
  failures integer not null default 0,
  lease uuid,
  handed_over_at timestamptz,
  reply text,
  created_at timestamptz not null,
  ended_at timestamptz,
  constraint mail_text check ((due_at is not null) = (num_nonnulls(text, sealed_text) = 1)),
  constraint mail_ended check ((due_at is null) = (ended_at is not null))
);
create index mail_waiting on mail (created_at) where due_at is not null;
create index mail_over on mail (ended_at) where ended_at is not null;

create trigger task_added after insert or update of due_at on mail for each row when (new.due_at is not null)
  execute function add_task('notices.mail', 'id', 'due_at');

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
end
$$;
