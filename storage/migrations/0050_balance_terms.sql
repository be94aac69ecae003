-- The tag of a balance that a change names counts the changes by people: movements of money do not outdate it.
alter table balance add column terms_version integer not null default 1;
