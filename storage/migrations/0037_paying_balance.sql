-- The balance that a payment is debited from and comes back to: the one it was made from, or, where its money is bought first, the one
-- that receives the bought currency.
alter table payment add column paying_balance_id uuid;
update payment set paying_balance_id = case when details like '%"conversion":%' then coalesce((details::jsonb#>>'{conversion,buyBalanceId}')::uuid, source_balance_id)
  else source_balance_id end;
alter table payment alter column paying_balance_id set not null;

-- What came back to a balance that takes no money any more: of a payment, an exchange or a transfer.
alter table incoming_payment rename column payment_id to origin_id;
