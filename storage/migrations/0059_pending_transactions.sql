-- How far the events of payments under way have been followed, for the transactions of those that take longer
-- (storage/transactions/transactions.ts). One row.
create table pending_transaction_following (
  position xid8 not null,
  moved_at timestamptz
);
insert into pending_transaction_following (position, moved_at) select position, moved_at from transaction_following;
