-- From when on the events are all there: older ones go with their partitions, and whoever proves something by events asks no further back.
create table event_retention (
  kept_from timestamptz not null
);
insert into event_retention (kept_from) values ('-infinity');
