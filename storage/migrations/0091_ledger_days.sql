-- The movements of every account of the chart by day and posting rule, so that balances and lists of entries need not read a year of postings.
-- A day is added once it has ended and all of its decisions are committed; a task of the service does that (storage/ledger/ledger-days.ts).
create table ledger_day (
  operator_id uuid not null,
  day date not null,
  key text not null,
  currency char(3) not null,
  -- Null for `cust`: the balances of all customers are added up.
  account_id uuid,
  rule text not null,
  debits bigint not null,
  credits bigint not null,
  amount_least bigint not null,
  amount_most bigint not null,
  constraint ledger_day_once unique nulls not distinct (operator_id, day, key, currency, account_id, rule)
);
create index ledger_day_account on ledger_day (account_id, day) where account_id is not null;

-- The last day that is added; no row while there is none.
create table ledger_day_last (
  only_row boolean primary key default true check (only_row),
  day date not null
);

-- Ids of entries ascend with their time, so a summary of pages finds an entry; a payment pays for no further index.
create index posting_entry on posting using brin (entry_id) with (pages_per_range = 32, autosummarize = on);
