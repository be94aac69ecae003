-- Transactions of one type or one rail, found without passing by all the others; and what a stretch of a journal has, so that
-- whoever looks for something else passes it by. Both are written beside the commits.
create index account_transaction_type on account_transaction (customer_id, type, created_at, id);
create index account_transaction_rail on account_transaction (customer_id, rail, created_at, id) where rail is not null;

-- kinds: the rule and the side of each line. All are null in what was chained before.
alter table journal_checkpoint
  add column kinds text[],
  add column amount_least bigint,
  add column amount_most bigint,
  add column value_first date,
  add column value_last date;

-- What it takes to find the words of a row anew, so that it is not taken for a cheaper way than the index of words.
alter function search_words cost 5000;
