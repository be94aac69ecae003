-- A bank names a debit that it gives back by the end-to-end id of the debit.
create index incoming_debit_end_to_end on incoming_debit (connection_id, end_to_end_id) where end_to_end_id is not null;
