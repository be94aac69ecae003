-- The unit of work leaves the version of a new row to the database: a settings document begins at 1 as other resources do.
alter table setting alter column version set default 1;
