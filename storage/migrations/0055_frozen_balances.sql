-- The queue of payments passes over those of frozen balances, of which there are few.
create index balance_frozen on balance (id) where status = 'frozen';
