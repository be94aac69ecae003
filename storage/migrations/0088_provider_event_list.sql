-- Lists of the sandbox's messages. Rows are added in the order of their times and about objects of about the same age, so an index of block
-- ranges finds both; it costs the writer nothing, since ranges are summarised later (storage/providers/provider-event-list.ts).
create index provider_event_ranges on provider_event using brin (received_at, object_id uuid_minmax_multi_ops)
  with (pages_per_range = 32);
