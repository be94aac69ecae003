-- Background work is run by graphile-worker, whose tables are in a schema of their own (storage/tasks/install-tasks.ts). The due time of a
-- row stays the truth; triggers add the task that works on the row in the transaction that sets it, so no writer can forget it.
--
-- The node that owns the shard of the row works on it. Arguments: the task, the column of the row's id, the column of its due time, and, for tasks that run one after the other, the column
-- that names their queue. The key of a task is its name and the id: a task that waits moves to the new time; one that runs is followed by another.
create function add_task() returns trigger language plpgsql as $$
declare
  fields constant jsonb := to_jsonb(new);
  id constant text := fields->>tg_argv[1];
  due constant timestamptz := fields->>tg_argv[2];
begin
  perform graphile_worker.add_job(tg_argv[0], json_build_object('id', id, 'due', ceil(extract(epoch from due) * 1000)),
    flags := case when fields ? 'shard' then array['shard:' || (fields->>'shard')] end,
    queue_name := case when tg_nargs > 3 then tg_argv[0] || ':' || (fields->>tg_argv[3]) end,
    run_at := due, max_attempts := 32767, job_key := tg_argv[0] || ':' || id);
  return null;
end
$$;

-- One task for all rows of a shard that are due in the same second, however many they are. Arguments: the task and the column of the due time.
create function add_task_of_second() returns trigger language plpgsql as $$
declare
  due constant timestamptz := date_trunc('second', (to_jsonb(new)->>tg_argv[1])::timestamptz) + interval '1 second';
  name constant text := tg_argv[0] || ':' || new.shard || ':' || extract(epoch from due)::bigint;
begin
  if exists (select from graphile_worker.jobs where key = name and locked_at is null) then
    return null;
  end if;
  perform graphile_worker.add_job(tg_argv[0], json_build_object('id', new.shard::text, 'due', extract(epoch from due) * 1000),
    flags := array['shard:' || new.shard], run_at := due, max_attempts := 32767, job_key := name);
  return null;
end
$$;

-- A queued day is compared from `taken_until` on: when its decisions are committed, or later when its statement was missing.
update reconciliation set status = 'queued', taken_until = greatest(now(), (day + 1)::timestamp at time zone 'UTC' + interval '5 minutes')
where status in ('queued', 'running');

-- A job counts the attempts that failed; graphile-worker those that began. The lease names the attempt that may write the result.
alter table job rename column attempts to failures;
update job set failures = 0;
alter table document drop column attempts;

do $$
declare
  work record;
begin
  for work in select * from (values ('job'), ('document'), ('recipient_review'), ('statement_calendar'), ('api_key'), ('reconciliation')) as t(name)
  loop
    execute format('drop trigger work_inserted on %I', work.name);
    execute format('drop trigger work_hastened on %I', work.name);
  end loop;
end
$$;

create trigger task_added after insert or update of due_at on job for each row when (new.due_at is not null)
  execute function add_task('jobs.run', 'id', 'due_at', 'tenant_id');
create trigger task_added after insert or update of scan_due_at on document for each row when (new.scan_due_at is not null)
  execute function add_task('documents.scan', 'id', 'scan_due_at');
create trigger task_added after insert or update of wake_at on recipient_review for each row when (new.status = 'pending')
  execute function add_task('recipients.review', 'id', 'wake_at');
create trigger task_added after insert or update of due_at on statement_calendar for each row when (new.due_at is not null)
  execute function add_task('statements.calendar', 'shard', 'due_at');
create trigger task_added after insert or update of status, taken_until on reconciliation for each row when (new.status = 'queued')
  execute function add_task('reconciliation.compare', 'id', 'taken_until');

-- A contract's row is written by the commits of payments, in the order of their locks; the task is added when all locks are held.
create constraint trigger task_added after insert or update of due_at on exchange deferrable initially deferred for each row
  when (new.due_at is not null) execute function add_task_of_second('exchange.contracts', 'due_at');

-- Adds the tasks of rows that have none. None is missing unless a node stalled between the end of its work and the end of its task for so
-- long that another node had begun the task again.
create function add_missing_tasks() returns void language plpgsql as $$
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
end
$$;

select add_missing_tasks();
update exchange set due_at = due_at where due_at is not null;
