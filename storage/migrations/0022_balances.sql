-- Balances that people open, change and close, and the accounts at partners behind them.

-- Of the balances in one currency one is meant where nothing else is said.
create unique index balance_default on balance (customer_id, currency) where is_default;
create index balance_parent on balance (parent_balance_id) where parent_balance_id is not null;

-- Falling below the threshold is told of once; it can fall again when it has been above. A trigger, so that whatever takes the
-- money, it is told of in the same transaction, and balances that have no threshold pay for nothing but one comparison.
create function balance_low() returns trigger language plpgsql as $$
begin
  insert into outbox (id, created_at, customer_id, operator_id, shard, type, object, object_id, amount, currency)
    values (uuidv7(new.updated_at - clock_timestamp()), new.updated_at, new.customer_id, new.operator_id, new.shard, 'balance.low', 'balance', new.id,
      new.posted - new.held, new.currency);
  return null;
end $$;
create trigger balance_low after update of posted, held on balance
  for each row when (new.posted - new.held < new.low_balance_threshold and old.posted - old.held >= new.low_balance_threshold) execute function balance_low();

-- Account details come from the partner of a connection, who is asked where the shard is at home: while they are pending whether
-- there is an account, while they are closing whether it is closed, and when those that were replaced have had their time.
alter table account_details
  add column connection_id uuid,
  add column shard smallint,
  -- When the partner is asked next; null when there is nothing to ask.
  add column due_at timestamptz;
update account_details d set connection_id = b.connection_id, shard = b.shard from balance b where b.id = d.balance_id;
alter table account_details alter column connection_id set not null, alter column shard set not null;
create index account_details_due on account_details (due_at) where due_at is not null;

-- The sandbox bank's book of accounts that it was asked for, by our reference. Those that it was never asked for have a row when
-- they are closed.
create table sandbox_account (
  reference uuid primary key,
  number integer,
  opens_at timestamptz,
  closes_at timestamptz
);

-- Customers that have asked to be closed, and when it is looked whether they can be.
create table customer_closure (
  customer_id uuid primary key references customer,
  shard smallint not null,
  requested_by uuid not null,
  requested_at timestamptz not null,
  -- From then on its accounts are being closed, and it cannot come back.
  begun_at timestamptz,
  due_at timestamptz not null
);
create index customer_closure_due on customer_closure (due_at);
insert into customer_closure (customer_id, shard, requested_by, requested_at, due_at)
  select id, shard, id, updated_at, updated_at from customer where status = 'closing';
alter table customer add column closed_at timestamptz;

-- How many days before its end its people were warned last.
alter table api_key add column expiry_warned_days smallint;
create index api_key_expiring on api_key (expires_at) where status = 'active' and expires_at is not null;
