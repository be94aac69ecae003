-- A fee that is given back (L14) is one transaction of the whole amount: the lines of its income and of the tax within it belong
-- together, under the id of the first.
create or replace function transaction_of_line(rule text, side text, source_id uuid, entry_id uuid, ordinal integer) returns uuid
  language sql immutable strict parallel safe
  return case
    when rule in ('L01', 'L04', 'L06', 'L10', 'L12', 'L30', 'L35', 'L43', 'L81') or (rule = 'L20' and side = 'debit') then source_id
    when rule in ('L20', 'L33') then marked_id(source_id, 1)
    when rule in ('L13', 'L80') then marked_id(source_id, 2)
    else marked_id(entry_id, case rule when 'L14' then 0 else ordinal * 2 end + case side when 'debit' then 0 else 1 end)
  end;

-- The tax that was a transaction of its own goes to the refund it belongs to, with its notes and files.
with split as materialized (
  select t.id, marked_id(p.entry_id, 1) as whole_id, t.amount, t.running_balance, t.attachment_count, t.annotation_count
  from account_transaction t join posting p on p.source_id = t.source_id and p.rule = 'L14' and p.ordinal > 0
    and marked_id(p.entry_id, p.ordinal * 2 + 1) = t.id
  where t.type = 'fee_refund'),
noted as (update annotation a set transaction_id = s.whole_id from split s where a.transaction_id = s.id),
attached as (update document d set transaction_id = s.whole_id from split s where d.transaction_id = s.id),
gone as (delete from account_transaction t using split s where t.id = s.id)
update account_transaction t set amount = t.amount + s.amount, running_balance = s.running_balance, version = t.version + 1,
  attachment_count = t.attachment_count + s.attachment_count, annotation_count = t.annotation_count + s.annotation_count
  from split s where t.id = s.whole_id;
