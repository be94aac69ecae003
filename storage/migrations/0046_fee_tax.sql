-- Tax within fees of payments: the rate is part of the rule, and what a transaction and a row of a file show is kept with them.
-- A payment keeps its tax with its other charges (details).
alter table fee_rule
  add column tax_bps integer not null default 0,
  add constraint fee_rule_tax check (tax_bps between 0 and 10000 and (kind = 'payment' or tax_bps = 0));
alter table account_transaction add column fee_tax bigint not null default 0;
alter table bulk_payment_row add column fee_tax bigint;
