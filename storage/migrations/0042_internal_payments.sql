-- Payments to a balance on this platform: the balance is found by the account details that name it, whichever customer it belongs to.
create index account_details_iban on account_details ((identifiers->>'iban'));
create index account_details_account_number on account_details ((identifiers->>'accountNumber'));
create index account_details_clabe on account_details ((identifiers->>'clabe'));
create index recipient_iban on recipient ((bank->>'iban')) where status <> 'deleted';
create index recipient_account_number on recipient ((bank->>'accountNumber')) where status <> 'deleted';
create index recipient_clabe on recipient ((bank->>'clabe')) where status <> 'deleted';

-- Nodes remember with a recipient which balance its account is. When account details come, go or change, the recipients of all
-- customers that name the account are forgotten, not only those of the account's owner.
create or replace function own_accounts_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('recipient_changed', named.id::text) from unnest(array[old.identifiers, new.identifiers]) d(account) cross join lateral (
    select r.id from recipient r where r.bank->>'iban' = d.account->>'iban' and r.status <> 'deleted'
    union
    select r.id from recipient r where r.bank->>'accountNumber' = d.account->>'accountNumber' and r.status <> 'deleted'
    union
    select r.id from recipient r where r.bank->>'clabe' = d.account->>'clabe' and r.status <> 'deleted') named;
  return null;
end
$$;

-- An order of the sandbox bank whose money goes to an account that the bank keeps itself: the balance of that account.
alter table sandbox_order add column credited_balance_id uuid;
