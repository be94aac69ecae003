-- The days of notice that were agreed with a payer.
alter table mandate add column notice_days smallint;

-- More members of an event's payload, as JSON text.
alter table outbox add column details text;
