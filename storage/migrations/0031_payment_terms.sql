-- What operators set for rails in place of the schemes' own terms: limits of theirs, and the days and cut-offs of a connection; and
-- payments that come back to closed balances.

-- Limits by rail in minor units of the rail's currency, as text; null where there is none. The version moves with them, so that a
-- balance tells whether a rail was chosen by the limits that hold.
alter table operator
  add column rail_limits jsonb not null default '{}',
  add column rail_version integer not null default 1;

alter table provider_connection
  add column version integer not null default 1,
  add column updated_by uuid,
  add column updated_at timestamptz;

-- What came back of a payment whose balance takes no money any more waits for its owner with the rest.
alter table incoming_payment add column payment_id uuid;
