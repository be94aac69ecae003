-- The facts of each message of the card network, the entry that it has booked, and transactions of cards.
alter table card_event
  add column merchant_amount bigint,
  add column merchant_currency char(3),
  add column rate numeric(20, 10),
  add column markup bigint not null default 0,
  add column entry_id uuid;

-- A clearing is one transaction, its fees included. The first entry of a card transaction has the id of it, so its
-- transaction is the one that began with the authorisation.
create or replace function transaction_of_line(rule text, side text, source_id uuid, entry_id uuid, ordinal integer) returns uuid
  language sql immutable parallel safe
  return case
    when rule in ('L01', 'L04', 'L06', 'L10', 'L12', 'L30', 'L35', 'L43', 'L81') or (rule = 'L20' and side = 'debit') then source_id
    when rule in ('L20', 'L33') then marked_id(source_id, 1)
    when rule in ('L13', 'L80') then marked_id(source_id, 2)
    when rule = 'L71' then entry_id
    else marked_id(entry_id, case rule when 'L14' then 0 else ordinal * 2 end + case side when 'debit' then 0 else 1 end)
  end;

delete from account_transaction where source_object = 'card_transaction';
insert into transaction_backfill (object, after_id) values ('card_transaction', '00000000-0000-0000-0000-000000000000');
