/**
 * The sections of the commit statement for balances: their changes, the versions that turns rest on, and the balances
 * that a decision credits.
 *
 * Sequence numbers and running balances are offsets computed here, added in SQL to the locked row. Cached state may be
 * older than the row, because credits do not pass through the actor; the locked row is current.
 */
import type { AnsweredSection } from '../commit/commit.ts'
import {
  commandConflict,
  FACT_STALE,
  fence,
  gathered,
  NO_DETAIL,
  section,
  type Batch,
  type CommandRef,
  type Conflicts,
  type Fence,
  type Section,
} from '../commit/section.ts'
import { paysNothing } from './stopped-balances.ts'

/** A balance as a commit has written it. */
export interface BalanceAfter {
  readonly id: string
  readonly version: bigint
  readonly posted: bigint
  readonly held: bigint
  readonly sequence: bigint
}

/** The changes of one balance row in a commit. */
export interface BalanceDelta {
  readonly id: string
  posted: bigint
  held: bigint
  sequence: number
  version: number
}

/**
 * SQL condition: the time is not near midnight (UTC). When two nodes receive one key at once, the unique row of the
 * key, one for each day, keeps them apart. Near midnight their rows may be of two days; then every turn moves the
 * version of its balance, even a turn that refuses or holds no money, so that the second turn is stale, is decided
 * again and finds the key. The margin is five minutes, more than a command may wait (15 s) and more than clocks may
 * differ.
 */
const ABOUT_MIDNIGHT = `($1::timestamptz at time zone 'UTC')::time not between '00:05' and '23:55'`

const BALANCE_DELTAS: Section<BalanceDelta> = {
  ...section<BalanceDelta>(
    'balance',
    { id: 'uuid', posted: 'bigint', held: 'bigint', sequence: 'bigint', version: 'bigint' },
    (source, bound) => `balance_written as (
  update balance b set posted = l.posted + u.posted, held = l.held + u.held, sequence = l.sequence + u.sequence,
    version = l.version + u.version, updated_at = greatest(b.updated_at, $1::timestamptz)
  from ${source} join locked l on l.id = u.id where b.id = u.id and b.id = any(${bound('id')}) and (select ok from verdict)
    -- A turn that takes and gives nothing leaves the balance as it was, its version too; except about midnight (ABOUT_MIDNIGHT).
    and (u.posted <> 0 or u.held <> 0 or u.sequence <> 0 or (u.version > 0 and ${ABOUT_MIDNIGHT}))
  returning b.id, b.version, b.posted, b.held, b.sequence)`,
  ),
  keyed: 'as they arrive',
}

/** The changes of balances: their rows are locked before all others, and answered. */
export const BALANCES: AnsweredSection<BalanceAfter> = {
  part: BALANCE_DELTAS,
  lock: {
    name: 'locked',
    sql: (ids) => `
  select b.id, b.version, b.posted, b.held, b.sequence, b.status, b.customer_status, b.customer_measure, b.currency, b.connection_id from balance b
  where b.id = any(${ids}) order by b.id for update`,
  },
  kind: 'balance',
  sql: `select 'balance', null, null, null, id, null, null, null, version, posted, held, sequence from balance_written`,
  read: (row) => ({
    id: row[4] as string,
    version: BigInt(row[8] as string),
    posted: BigInt(row[9] as string),
    held: BigInt(row[10] as string),
    sequence: BigInt(row[11] as string),
  }),
}

/** The changes of a balance so far; its row is locked from now on. */
export function balanceDelta(batch: Batch, id: string): BalanceDelta {
  const deltas = batch.keyed(BALANCE_DELTAS)
  let delta = deltas.get(id)
  if (delta === undefined) deltas.set(id, (delta = { id, posted: 0n, held: 0n, sequence: 0, version: 0 }))
  return delta
}

// ── Fences and stale facts
// ────────────────────────────────────────────────────────────────────────────────────────────

interface BalanceVersion {
  readonly turn: number
  readonly id: string
  readonly version: bigint
}
interface BalanceStale {
  readonly kind: 'balance_stale'
  /** The index of the turn in the caller's list. */
  readonly turn: number
}
const BALANCE_STALE: Conflicts<BalanceStale> = {
  kind: 'balance_stale',
  of: ({ nth }) => ({ kind: 'balance_stale', turn: nth }),
}

/** Compares the version of each balance that decides. */
export const BALANCE_FENCES: Fence<BalanceVersion, BalanceStale> = {
  ...fence<BalanceVersion, BalanceStale>(
    BALANCE_STALE,
    'balance_fence',
    { turn: 'integer', id: 'uuid', version: 'bigint' },
    (source) => `${NO_DETAIL} from ${source} left join locked l on l.id = u.id
  where l.version is distinct from u.version`,
  ),
  turn: ({ balanceId, version }, turn, batch) => {
    balanceDelta(batch, balanceId).version += 1
    batch.add(BALANCE_FENCES, { turn, id: balanceId, version })
  },
}

interface CreditRow extends CommandRef {
  readonly currency: string
}
const CREDIT_REFUSED = commandConflict('credit_refused')

/** Refuses credits to a balance that accepts none any more. */
export const CREDIT_FENCES: Fence<CreditRow, ReturnType<typeof CREDIT_REFUSED.of>> = gathered(
  'credits',
  fence<CreditRow, ReturnType<typeof CREDIT_REFUSED.of>>(
    CREDIT_REFUSED,
    'credit_fence',
    { command: 'integer', id: 'uuid', currency: 'text' },
    (source) => `${NO_DETAIL} from ${source} left join locked l on l.id = u.id
  where l.status is null or l.status not in ('active', 'frozen') or l.currency <> u.currency`,
  ),
  ({ balanceId, currency }, batch) => {
    balanceDelta(batch, balanceId)
    batch.add(CREDIT_FENCES, { command: batch.nth, id: balanceId, currency })
  },
)

const DEBIT_REFUSED = commandConflict('debit_refused')

/**
 * Refuses debits of a balance that pays nothing for the present. A batch has many debits of one balance and hardly ever a
 * refused one, so a balance is compared once, for the first command that debits it; the others are found when they are
 * committed again.
 */
export const DEBIT_FENCES: Fence<CommandRef, ReturnType<typeof DEBIT_REFUSED.of>> = gathered(
  'debits',
  {
    ...fence<CommandRef, ReturnType<typeof DEBIT_REFUSED.of>>(
      DEBIT_REFUSED,
      'debit_fence',
      { command: 'integer', id: 'uuid' },
      (source) => `${NO_DETAIL} from ${source} join locked l on l.id = u.id where ${paysNothing('l')}`,
    ),
    keyed: 'as they arrive',
  },
  ({ balanceId }, batch) => {
    balanceDelta(batch, balanceId)
    const debits = batch.keyed(DEBIT_FENCES)
    if (!debits.has(balanceId)) debits.set(balanceId, { command: batch.nth, id: balanceId })
  },
)

interface PlaceRow extends CommandRef {
  readonly connectionId: string
}

/** Compares the connections of balances that exist: one that has moved (L96) makes the decision stale. */
export const PLACE_FENCES: Fence<PlaceRow, ReturnType<typeof FACT_STALE.of>> = gathered(
  'places',
  fence<PlaceRow, ReturnType<typeof FACT_STALE.of>>(
    FACT_STALE,
    'place_fence',
    { command: 'integer', id: 'uuid', connectionId: 'uuid' },
    (source) => `${NO_DETAIL} from ${source} join locked l on l.id = u.id
  where l.connection_id <> u.connection_id`,
  ),
  ({ balanceId, connectionId }, batch) => {
    balanceDelta(batch, balanceId)
    batch.add(PLACE_FENCES, { command: batch.nth, id: balanceId, connectionId })
  },
)
