-- The request of the first of the two people who give an event of a provider to a payment or an exchange.
alter table provider_inbox add column proposal jsonb;
