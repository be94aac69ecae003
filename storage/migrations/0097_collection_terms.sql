-- What operators set for the direct debits that their customers collect.
alter table operator
  add column collection_pre_notification_days integer not null default 14,
  add column collection_reserve_days integer not null default 0,
  add column collection_max_exposure jsonb not null default '{}';

-- Returned direct debits may have a fee.
alter table fee_rule
  drop constraint fee_rule_kind,
  add constraint fee_rule_kind
    check (kind in ('payment', 'incoming_payment', 'payment_return', 'exchange', 'partner_charge', 'collection_return'));
