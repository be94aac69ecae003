-- Indexes of the lists, none of them on a column that a commit writes. Ids are UUIDs of version 7, so an index by id is one
-- by creation. Payments, holds and postings have theirs already: every index there is paid for by every payment.

create index balance_customer_created on balance (customer_id, id);
create index balance_customer_name on balance (customer_id, lower(name), id);
create index balance_operator_currency on balance (operator_id, currency, id);
create index balance_operator_created on balance (operator_id, id);
create index balance_operator_name on balance (operator_id, lower(name), id);

create index recipient_created on recipient (customer_id, id);
-- Those never paid come last; a keyset has no nulls.
create index recipient_last_paid on recipient (customer_id, coalesce(last_paid_at, '-infinity'::timestamptz), id);

-- ── Search ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
-- Words without case and accents, found by their beginnings. Written here rather than taken from the extension "unaccent",
-- because extensions need rights that a hosted database may not give, and because its function is not immutable. The
-- collation is named, because a database in the locale C would know no letters but those of English.

-- What a person types and what is stored, in one spelling: "Łódź & Søn" is "lodz   son".
create function search_fold(input text) returns text
  language sql immutable strict parallel safe
  return regexp_replace(
    translate(
      replace(replace(replace(replace(
        regexp_replace(normalize(lower(input collate "pg_c_utf8"), nfd), '[\u0300-\u036f]', '', 'g'),
        'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th'),
      'øłđðħıĸŧ', 'olddhikt') collate "pg_c_utf8",
    '[^[:alnum:]]+', ' ', 'g');

-- The words of a text, each with its tenant before it: a search reads the words of one tenant, however many others have the
-- same. "Main account" of customer c is {'c:main', 'c:account'}.
create function search_words(tenant uuid, input text) returns tsvector
  language sql immutable strict parallel safe
  return array_to_tsvector(array(
    select tenant::text || ':' || word from unnest(string_to_array(search_fold(input), ' ')) word where word <> ''));

-- All words of a search, each as a beginning. Without a single letter or digit there is nothing to find.
create function search_query(tenant uuid, input text) returns tsquery
  language sql immutable strict parallel safe
  return coalesce((
    select string_agg(quote_literal(tenant::text || ':' || word) || ':*', ' & ')
    from unnest(string_to_array(search_fold(input), ' ')) word where word <> ''), '')::tsquery;

create index balance_search on balance using gin ((search_words(customer_id, name) || search_words(operator_id, name)));
create index recipient_search on recipient using gin (
  (search_words(customer_id, name || ' ' || coalesce(nickname, '') || ' ' || coalesce(email, '') || ' ' || masked_identifier)));
