/**
 * Finds the ranges of a journal that can match a search: the chain's checkpoints record which kinds, amounts and value
 * dates each range of lines has, so a search skips ranges without a match. Lines that are not chained yet can always
 * match.
 */
import { textArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'

/** The conditions of a search; null for any. Kinds are a rule and a side, as `L10/debit`. */
export interface Sought {
  readonly kinds: readonly string[] | null
  readonly amountFrom: bigint | null
  readonly amountTo: bigint | null
  readonly valueFrom: string | null
  readonly valueTo: string | null
}

/** A range of lines: from one sequence up to, and excluding, another. */
export interface SequenceRange {
  readonly from: bigint
  readonly before: bigint
}

/** Merges adjacent ranges: a merged range starts where a range does not follow directly on the one before it. */
const LIKELY = `with chained as (
    select first_sequence, last_sequence,
      kinds is null or (($4::text[] is null or kinds && $4::text[]) and ($5::bigint is null or amount_most >= $5::bigint) and ($6::bigint is null or amount_least <= $6::bigint)
        and ($7::date is null or value_last >= $7::date) and ($8::date is null or value_first <= $8::date)) as likely
    from journal_checkpoint where chain_id = $1 and first_sequence < $3::bigint and last_sequence >= $2::bigint),
  found as (
    select first_sequence, last_sequence from chained where likely
    union all
    select coalesce(max(last_sequence) + 1, $2::bigint), $3::bigint - 1 from chained),
  apart as (
    select *, count(*) filter (where starts) over (order by first_sequence) as stretch from (
      select *, first_sequence is distinct from lag(last_sequence) over (order by first_sequence) + 1 as starts from found) f)
  select greatest(min(first_sequence), $2::bigint)::text, least(max(last_sequence) + 1, $3::bigint)::text from apart group by stretch
  having greatest(min(first_sequence), $2::bigint) < least(max(last_sequence) + 1, $3::bigint) order by min(first_sequence)`

/** Finds the ranges of a journal whose lines can match, in order. @throws DatabaseUnavailable */
export async function likelyStretches(
  database: Database,
  balanceId: string,
  { from, before }: SequenceRange,
  { kinds, amountFrom, amountTo, valueFrom, valueTo }: Sought,
): Promise<SequenceRange[]> {
  const rows = await database.query<[string, string]>({
    name: 'likely_stretches',
    text: LIKELY,
    values: [
      balanceId,
      from,
      before,
      kinds === null ? null : textArray(kinds),
      amountFrom,
      amountTo,
      valueFrom,
      valueTo,
    ],
  })
  return rows.map(([first, end]) => ({ from: BigInt(first), before: BigInt(end) }))
}
