-- Some payments take days, so a partner that has answered "pending" is not asked again at once. Null: may be asked at any time.
alter table partner_instruction add column ask_at timestamptz;
