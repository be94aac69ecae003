-- What a member of a customer may pay out, and preferences that decide on payments.

-- Nodes that remember recipients hear of a customer that wants names checked, as they hear of an operator that does. 'of',
-- a customer's id and the version of what it wants: all of its recipients.
create function recipient_preferences_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('recipient_changed', 'of ' || new.owner_id::text || ' ' || new.version);
  return null;
end
$$;
create trigger recipient_preferences_set after insert on setting
  for each row when (new.name = 'preferences') execute function recipient_preferences_changed();
create trigger recipient_preferences_changed after update on setting
  for each row when (new.name = 'preferences' and new.value->'requireVerification' is distinct from old.value->'requireVerification')
  execute function recipient_preferences_changed();

-- Limits of a member beside those of the customer; null is none. What they have paid out is counted as the customer's is, under
-- the id of the person: `spender_id` is the customer itself for what all of its people and keys pay together.
alter table membership add column limits jsonb;
alter table outflow add column spender_id uuid;
update outflow set spender_id = customer_id;
alter table outflow alter column spender_id set not null;
alter table outflow drop constraint outflow_pkey, add primary key (customer_id, spender_id, currency, period_kind, period_start);
