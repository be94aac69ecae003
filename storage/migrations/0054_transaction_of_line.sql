-- The same function as before, without `strict`: Postgres puts the body of a SQL function into the statement that calls
-- it, which saves a call for each line, only if it can see that the body is strict as well, which a `case` hides.
create or replace function transaction_of_line(rule text, side text, source_id uuid, entry_id uuid, ordinal integer) returns uuid
  language sql immutable parallel safe
  return case
    when rule in ('L01', 'L04', 'L06', 'L10', 'L12', 'L30', 'L35', 'L43', 'L81') or (rule = 'L20' and side = 'debit') then source_id
    when rule in ('L20', 'L33') then marked_id(source_id, 1)
    when rule in ('L13', 'L80') then marked_id(source_id, 2)
    else marked_id(entry_id, case rule when 'L14' then 0 else ordinal * 2 end + case side when 'debit' then 0 else 1 end)
  end;
