-- The unit of work leaves the version of a new row to the database: every resource begins at 1.
alter table customer_address alter column version set default 1;
alter table team alter column version set default 1;
alter table invitation alter column version set default 1;
alter table approval_policy alter column version set default 1;
