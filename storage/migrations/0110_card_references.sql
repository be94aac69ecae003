-- A reference is nearly unique by itself, a connection has all of them: so the reference leads the index, and no plan can
-- read the transactions of a whole connection to find one. Decisions change their card, so its pages keep room for that.
alter table card_transaction drop constraint card_transaction_ref;
alter table card_transaction add constraint card_transaction_ref unique (ref, connection_id);
alter table card set (fillfactor = 60);
alter table card_transaction set (fillfactor = 80);
