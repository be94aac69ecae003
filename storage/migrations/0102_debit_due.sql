-- What becomes due on mandates and collections by itself, and what a customer has collected and may have to give back.
alter table collection add column exposed_until timestamptz;

create table debit_exposure (
  customer_id uuid not null,
  currency char(3) not null,
  amount bigint not null,
  primary key (customer_id, currency),
  constraint debit_exposure_amount check (amount >= 0)
);

-- The return rate of a customer in a scheme, judged with its last return and once a day. A customer without a row is fine.
create table return_standing (
  customer_id uuid not null,
  scheme text not null,
  operator_id uuid not null,
  level text not null,
  rate_group text,
  rate_bps integer not null,
  judged_at timestamptz not null,
  primary key (customer_id, scheme)
);

create constraint trigger task_added after insert or update of due_at on collection deferrable initially deferred for each row
  when (new.due_at is not null) execute function add_task_of_second('direct-debits.collections', 'due_at');
create constraint trigger task_added after insert or update of due_at on mandate deferrable initially deferred for each row
  when (new.due_at is not null) execute function add_task_of_second('direct-debits.mandates', 'due_at');
