-- What falls due again in an approved case, documents and the periodic review alike, is looked at by one task of every minute.
drop trigger task_added on kyb_case;
select graphile_worker.remove_job(key) from graphile_worker.jobs where task_identifier = 'onboarding.review';
update kyb_case set check_due_at = least(check_due_at, review_due_at, now()) where status = 'approved';
alter table kyb_case drop column review_due_at;

-- What has taken a measure: 'staff', whose measures only staff lift, or 'service' because something is past due.
alter table customer add column measure_by text;
update customer set measure_by = 'staff' where measure is not null;
update customer c set measure_by = 'service' from kyb_case k
  where k.customer_id = c.id and k.lapsed_at is not null and c.measure = 'restricted';
