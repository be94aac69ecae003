-- Where a file was put under its temporary name: only there its absence tells that it was renamed.
alter table provider_file add column place text;
