/**
 * The chain of hashes over the journal. The audit finds every chained line that was changed, removed or reordered, and
 * every line inserted between others. If the chain itself was rewritten too, a block hash that was kept elsewhere shows
 * it.
 *
 * - A line's digest is SHA-256 over all of its columns and those of its entry, each as its length in bytes, a colon and
 *   its text, `~` where it is null. Both accounts are among them, so the internal side of a customer's posting is
 *   covered too.
 * - A checkpoint's hash is SHA-256 over the hash of the checkpoint before it and the digests of its lines, by sequence.
 * - Postings that touch no balance have a chain of their own, in the order of their time. They have no sequence, so
 *   they are chained once no posting can be booked before them any more: `INTERNAL_AGE_MS` after the previous pass.
 * - A block is the checkpoints of one pass; its hash is SHA-256 over that of the block before it and those of the
 *   checkpoints.
 *
 * Passes run one at a time in the whole service, each in one transaction on any node; the next pass does the work of a
 * lost one. Hashing happens in Postgres, beside the commits and off the event loop: lines need not travel.
 *
 * Figures (one balance of 300 000 lines, CPU of the backend on a busy machine of two cores): 10 µs a line to chain, 10
 * µs to verify in the memory of one checkpoint, 9 bytes of checkpoints a line where there are many. A payment that is
 * only accepted has no line; a payment that was handed over has one or two. A million lines take ten seconds of one
 * core to verify.
 */
import type { Database } from '../db/database.ts'
import { MINUTE_MS, timestamp } from '../../lib/base/clock.ts'
import { plainArray } from '../db/array-literal.ts'
import { inTransaction, type TransactionClient } from '../db/transaction.ts'

/** The advisory lock of a pass; any fixed number works, this one spells "chain" without its vowels. */
const LOCK = 0x6368696e
/** The chain id of postings that touch no balance. */
export const INTERNAL_CHAIN = '00000000-0000-0000-0000-000000000000'
/** Lines of one checkpoint, and of one pass: a tenth of a second's hashing. */
const CHECKPOINT_LINES_MAX = 8_192
const PASS_LINES_MAX = 16_384
const CHAINS_MAX = 2_000
/**
 * No decision is committed this long after its time: it is dropped after seconds, and clocks of nodes are a minute
 * apart at most.
 */
const INTERNAL_AGE_MS = 5 * MINUTE_MS

const FIELD = (text: string): string => `coalesce(octet_length(${text}) || ':' || (${text}), '~')`

/** SQL of the SHA-256 of a posting `p` as a line. `own` are the columns of the line's own side. */
function digestOf(own: readonly string[]): string {
  const shared = [
    'p.entry_id::text',
    'p.ordinal::text',
    'p.customer_id::text',
    'p.rule',
    'p.occurrence::text',
    'p.source_object',
    'p.source_id::text',
    'p.currency::text',
    'p.amount::text',
    'p.debit_account::text',
    'p.credit_account::text',
    'p.description',
    'p.reference',
    'p.counterparty',
    'p.reversal_of::text',
    '(extract(epoch from p.booked_at) * 1000000)::bigint::text',
    `to_char(p.value_date, 'YYYY-MM-DD')`,
  ]
  return `sha256(convert_to(${[...own, ...shared].map(FIELD).join(' || ')}, 'UTF8'))`
}

/**
 * SQL of the lines of the balance `chain` with numbers above `since` and up to `until`, with their digests; `more` adds
 * columns.
 */
export function balanceLines(
  chain: string,
  since: string,
  until: string,
  more: (side: string) => string = () => '',
): string {
  const side = (
    name: 'debit' | 'credit',
  ): string => `select p.${name}_sequence as sequence, ${digestOf([`'${name}'`, `p.${name}_sequence::text`, `p.${name}_balance::text`])} as digest${more(name)}
    from posting p where p.${name}_account = ${chain} and p.${name}_sequence > ${since} and p.${name}_sequence <= ${until}`
  return `${side('debit')} union all ${side('credit')}`
}

/** SQL of postings that touch no balance, booked from one time up to another, numbered from `since` on. */
export function internalLines(from: string, until: string, since: string): string {
  return `select ${since} + row_number() over (order by p.booked_at, p.source_id, p.rule, p.occurrence, p.ordinal) as sequence, ${digestOf([`'internal'`])} as digest
    from posting p where p.debit_sequence is null and p.credit_sequence is null and p.booked_at >= ${from} and p.booked_at < ${until}`
}

/** The result of a pass: lines chained, and lines that wait. */
export interface ChainPass {
  readonly lines: number
  readonly lag: number
  /** The newest block; null while there is none. */
  readonly block: { readonly number: string; readonly hash: string } | null
  /** Balances whose journal has a gap; the audit reports the details. */
  readonly holes: readonly string[]
}

interface EventRange {
  readonly chainId: string
  readonly since: bigint
  readonly until: bigint
}

/**
 * Makes one pass. `lookedAt` is the time of the previous pass, epoch milliseconds: decisions made before it are
 * committed by now, or never will be. Null when another pass is under way.
 *
 * @throws the driver's errors; then nothing was written
 */
export async function chainJournal(
  database: Database,
  { now, lookedAt }: { readonly now: number; readonly lookedAt: number | null },
): Promise<ChainPass | null> {
  return await inTransaction(database, async (client) => {
    const {
      rows: [lock],
    } = await client.query<{ taken: boolean }>({
      name: 'chain_lock',
      text: `select pg_try_advisory_xact_lock(${LOCK}) as taken`,
    })
    if (lock?.taken !== true) return null
    const { due, lag } = await findDue(client)
    const {
      rows: [last],
    } = await client.query<{ number: string; hash: string }>({
      name: 'chain_last',
      text: `select number, encode(hash, 'hex') as hash from journal_block order by number desc limit 1`,
    })
    const number = BigInt(last?.number ?? 0) + 1n
    const chained = due.length === 0 ? [] : await chainBalances(client, due, number)
    const internal =
      lookedAt === null ? 0 : await chainInternal(client, number, Math.min(lookedAt, now) - INTERNAL_AGE_MS)
    const lines = chained.reduce((sum, { lines: each }) => sum + each, 0) + internal
    const whole = new Set(chained.map(({ chainId }) => chainId))
    const holes = due.filter(({ chainId }) => !whole.has(chainId)).map(({ chainId }) => chainId)
    const block = lines === 0 ? (last ?? null) : await closeBlock(client, { number, lines, now })
    return { lines, lag: lag - lines + internal, block, holes }
  })
}

/** Reads the newest block; null while there is none. */
export async function newestBlock(
  database: Database,
): Promise<{ readonly number: string; readonly hash: string } | null> {
  const [row] = await database.query<[string, string]>({
    name: 'newest_block',
    text: `select number, encode(hash, 'hex') from journal_block order by number desc limit 1`,
    values: [],
  })
  return row === undefined ? null : { number: row[0], hash: row[1] }
}

/** Finds balances with unchained lines, as many as a pass takes, and the total number of such lines. */
async function findDue(
  client: TransactionClient,
): Promise<{ readonly due: readonly EventRange[]; readonly lag: number }> {
  const { rows } = await client.query<{ id: string; since: string; sequence: string; lag: string }>({
    name: 'chain_due',
    values: [CHAINS_MAX],
    text: `select b.id, coalesce(c.sequence, 0) as since, b.sequence, sum(b.sequence - coalesce(c.sequence, 0)) over () as lag
      from balance b left join journal_chain c on c.chain_id = b.id where b.sequence > coalesce(c.sequence, 0) order by b.id limit $1`,
  })
  const due: EventRange[] = []
  let room = PASS_LINES_MAX
  for (const { id: chainId, since: from, sequence } of rows) {
    if (room === 0) break
    const since = BigInt(from)
    const lines = Math.min(Number(BigInt(sequence) - since), CHECKPOINT_LINES_MAX, room)
    due.push({ chainId, since, until: since + BigInt(lines) })
    room -= lines
  }
  return { due, lag: Number(rows[0]?.lag ?? 0) }
}

const BATCH = (lines: string, more = ''): string =>
  `select count(*) as lines, string_agg(digest, ''::bytea order by sequence) as digests, string_agg(substr(digest, 1, 8), ''::bytea order by sequence) as marks${more} from (${lines}) l`
/**
 * Columns that summarise the lines of a checkpoint for searches (storage/journal/journal-search.ts); no hash covers
 * them.
 */
const SUMMARY = ['kinds', 'amount_least', 'amount_most', 'value_first', 'value_last'] as const
const SUMMED = (side: string): string => `, p.rule || '/${side}' as kind, p.amount, p.value_date`
const SUMMARISED = `, array_agg(distinct kind) as kinds, min(amount) as amount_least, max(amount) as amount_most, min(value_date) as value_first, max(value_date) as value_last`
const HEADS = `insert into journal_chain (chain_id, sequence, hash) select chain_id, last_sequence, hash from written
  on conflict (chain_id) do update set sequence = excluded.sequence, hash = excluded.hash`

/** Chains the lines of balances. A journal with a gap is left unchained, because missing lines cannot be hashed. */
async function chainBalances(
  client: TransactionClient,
  due: readonly EventRange[],
  block: bigint,
): Promise<readonly { readonly chainId: string; readonly lines: number }[]> {
  const { rows } = await client.query<{ chain_id: string; lines: string }>({
    name: 'chain_balances',
    values: [
      plainArray(due.map(({ chainId }) => chainId)),
      plainArray(due.map(({ since }) => since)),
      plainArray(due.map(({ until }) => until)),
      block,
    ],
    text: `with written as (
        insert into journal_checkpoint (chain_id, first_sequence, last_sequence, block, hash, marks, ${SUMMARY.join(', ')})
        select d.chain_id, d.since + 1, d.until, $4, sha256(coalesce(c.hash, ''::bytea) || b.digests), b.marks, ${SUMMARY.map((name) => `b.${name}`).join(', ')}
        from unnest($1::uuid[], $2::bigint[], $3::bigint[]) as d(chain_id, since, until) left join journal_chain c on c.chain_id = d.chain_id
        cross join lateral (${BATCH(balanceLines('d.chain_id', 'd.since', 'd.until', SUMMED), SUMMARISED)}) b
        where b.lines = d.until - d.since returning chain_id, first_sequence, last_sequence, hash),
      heads as (${HEADS})
      select chain_id, last_sequence - first_sequence + 1 as lines from written`,
  })
  return rows.map(({ chain_id: chainId, lines }) => ({ chainId, lines: Number(lines) }))
}

/**
 * Chains postings that touch no balance, booked before `before`. Postings of one instant are never split: a thousand of
 * them are one checkpoint.
 */
async function chainInternal(client: TransactionClient, block: bigint, before: number): Promise<number> {
  const {
    rows: [bounds],
  } = await client.query<{ from_at: string; until_at: string | null }>({
    name: 'chain_internal_bounds',
    values: [timestamp(before), CHECKPOINT_LINES_MAX, INTERNAL_CHAIN],
    text: `with since as (
        select coalesce((select booked_until from journal_checkpoint where chain_id = $3 order by first_sequence desc limit 1), '-infinity'::timestamptz) as from_at),
      next as (
        select p.booked_at from posting p, since where p.debit_sequence is null and p.credit_sequence is null and p.booked_at >= since.from_at and p.booked_at < $1
        order by p.booked_at limit $2)
      select since.from_at::text, case when (select count(*) from next) < $2 then case when exists (select from next) then $1::timestamptz::text end
        else ((select max(booked_at) from next) + interval '1 microsecond')::text end as until_at from since`,
  })
  if (bounds === undefined || bounds.until_at === null) return 0
  const {
    rows: [written],
  } = await client.query<{ lines: string }>({
    name: 'chain_internal',
    values: [INTERNAL_CHAIN, bounds.from_at, bounds.until_at, block],
    text: `with head as (select coalesce(max(c.sequence), 0) as sequence, coalesce(max(c.hash), ''::bytea) as hash from journal_chain c where c.chain_id = $1),
      written as (
        insert into journal_checkpoint (chain_id, first_sequence, last_sequence, block, hash, marks, booked_from, booked_until)
        select $1, h.sequence + 1, h.sequence + b.lines, $4, sha256(h.hash || b.digests), b.marks, $2, $3
        from head h cross join lateral (${BATCH(internalLines('$2', '$3', 'h.sequence'))}) b where b.lines > 0
        returning chain_id, first_sequence, last_sequence, hash),
      heads as (${HEADS})
      select last_sequence - first_sequence + 1 as lines from written`,
  })
  return Number(written?.lines ?? 0)
}

/** SQL of the input of a block's hash: its checkpoints `c`. */
export const BLOCK_DIGESTS = `string_agg(c.chain_id::text::bytea || c.last_sequence::text::bytea || c.hash, ''::bytea order by c.chain_id)`

async function closeBlock(
  client: TransactionClient,
  { number, lines, now }: { readonly number: bigint; readonly lines: number; readonly now: number },
): Promise<{ readonly number: string; readonly hash: string }> {
  const {
    rows: [row],
  } = await client.query<{ hash: string }>({
    name: 'chain_block',
    values: [number, lines, timestamp(now)],
    text: `insert into journal_block (number, hash, lines, made_at)
      select $1::bigint, sha256(coalesce((select hash from journal_block where number = $1::bigint - 1), ''::bytea) || ${BLOCK_DIGESTS}), $2::bigint, $3::timestamptz
      from journal_checkpoint c where c.block = $1::bigint returning encode(hash, 'hex') as hash`,
  })
  return { number: number.toString(), hash: row!.hash }
}
