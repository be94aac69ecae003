-- What an operator sets about itself and for its customers: one row, one version.
alter table operator
  add column version integer not null default 1,
  -- The features it has switched, by name; the others are as they come.
  add column features jsonb not null default '{}',
  add column updated_by uuid,
  add column updated_at timestamptz;

-- Nodes keep parts of it in memory; this tells them to forget, with a message of its own for every version. A trigger, so that
-- no way of changing it can leave it out. It takes the place of the one that spoke of recipients alone.
drop trigger recipient_policy_changed on operator;
drop function recipient_policy_changed();
create function operator_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('operator_changed', new.id || ' ' || new.version);
  return null;
end
$$;
create trigger operator_changed after update on operator
  for each row execute function operator_changed();
