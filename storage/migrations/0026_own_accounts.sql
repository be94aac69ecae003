-- Payments to an account of the customer's own: found among its account details by what names the account.
create index account_details_customer on account_details (customer_id);

-- Whether a recipient is the customer's own account follows from the customer's account details. Nodes keep that in memory with
-- the recipient; this tells them which ones to forget when details come, go or change.
create function own_accounts_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('recipient_changed', r.id::text) from recipient r cross join unnest(array[old.identifiers, new.identifiers]) d(named)
    where r.customer_id = coalesce(new.customer_id, old.customer_id) and r.status <> 'deleted'
      and (r.bank->>'iban' = d.named->>'iban' or r.bank->>'clabe' = d.named->>'clabe' or r.bank->>'accountNumber' = d.named->>'accountNumber');
  return null;
end
$$;
create trigger own_accounts_changed after insert or delete or update of status, identifiers, shared on account_details
  for each row execute function own_accounts_changed();
