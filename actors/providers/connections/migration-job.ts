/**
 * The job that moves balances from a draining connection to another (L96). Each balance is a transaction of its own: the
 * cash leg, the new connection, and new account details. A balance of which something is under way at the old partner
 * waits, and the job with it; a job that is begun again goes on with what is left.
 *
 * The cash itself is moved by the operator between its accounts; the sandbox bank does that by itself. When nothing of
 * customers is left, the operator's own money follows, of which the banks are told by an order.
 */
import { MINUTE_MS, dateIn, type Clock } from '../../../lib/base/clock.ts'
import type { IdSource } from '../../../lib/base/ids.ts'
import { transitionProblem, ProblemError } from '../../../lib/base/problems.ts'
import { REPLACED_FOR_MS } from '../../../lib/accounts/requests.ts'
import { NO_RESULT } from '../../../lib/jobs/job.ts'
import { entry, NO_BALANCE, type InternalAccounts } from '../../../lib/ledger/entry.ts'
import type { Posting } from '../../../lib/ledger/posting.ts'
import { moveCash } from '../../../lib/providers/cash-leg.ts'
import { ownMoneyLeft, type OpenAccount } from '../../../lib/providers/connection.ts'
import { shardOf } from '../../../lib/shards/shard.ts'
import type { Database } from '../../../storage/db/database.ts'
import { inTransaction, through, type TransactionClient } from '../../../storage/db/transaction.ts'
import type { InternalAccountCache } from '../../../storage/journal/internal-account-cache.ts'
import { writeEvent } from '../../../storage/outbox/outbox.ts'
import {
  balancesAt,
  countMoves,
  insertMove,
  keepsMoving,
  lockAccountsAt,
  lockMovingBalance,
  putBalance,
  requestAccounts,
  retireAccounts,
  sumsMoved,
  underWayAt,
  type BalanceMove,
  type MovingBalance,
} from '../../../storage/providers/connection-moves.ts'
import { writeEffects } from '../../../storage/sections/write-effects.ts'
import { readTies } from '../../../storage/providers/provider-connection-queries.ts'
import type { MoveCash } from '../cash/cash-orders.ts'
import { JobPaused, type JobContext, type JobOutcome, type JobWork } from '../../jobs/jobs.ts'
import type { JobRecord } from '../../../storage/jobs/jobs.ts'

/** The time until balances that wait for their partner are tried again. */
const AGAIN_MS = MINUTE_MS / 2

/** The request of the job. */
export interface MigrationRequest {
  readonly fromConnectionId: string
  readonly toConnectionId: string
}

export interface MigrationDeps {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly accounts: InternalAccountCache
  /** Whether the provider of a connection opens accounts for balances. */
  readonly opensAccounts: (client: TransactionClient, connectionId: string) => Promise<boolean>
  /** Has the banks that move cash at our word move that of balances. */
  readonly moveCash: MoveCash
}

/** Makes the work of the job. */
export const migrationJob = (deps: MigrationDeps): JobWork => ({
  run: async (job, context) => await migrate(deps, job, context),
})

async function migrate(deps: MigrationDeps, job: JobRecord, { progress, signal }: JobContext): Promise<JobOutcome> {
  const { database, clock } = deps
  const { fromConnectionId: connectionId } = job.request as MigrationRequest
  const counted = await countMoves(database, { connectionId, jobId: job.id })
  let moved = counted.moved
  const total = counted.moved + counted.left
  let waiting = 0
  progress(moved, total)
  let after: string | null = null
  for (;;) {
    const ids = await balancesAt(database, connectionId, after)
    for (const id of ids) {
      signal.throwIfAborted()
      if (await moveBalance(deps, job, id)) progress(++moved, total)
      else waiting++
    }
    after = ids.at(-1) ?? null
    if (after === null) break
  }
  if (waiting > 0) throw new JobPaused(clock.now() + AGAIN_MS)
  const sums = await sumsMoved(database, { connectionId, jobId: job.id })
  const own = await moveOwnMoney(deps, job)
  const counts = Object.fromEntries([
    ...[...sums].map(([currency, sum]) => [`${currency}Minor`, Number(sum)]),
    ...own.map(({ currency, amount }) => [`${currency}OwnMinor`, Number(amount)]),
  ])
  return { result: { ...NO_RESULT, rows: moved, counts: { balances: moved, ...counts } }, fileId: null }
}

/**
 * Moves the operator's own money (L21), when nothing of customers is left at the old connection; otherwise the next
 * migration does. An amount below zero, which the operator owes there, comes from the new connection.
 *
 * @returns what was moved
 */
async function moveOwnMoney(
  { database, clock, ids, accounts }: MigrationDeps,
  { operatorId, request }: JobRecord,
): Promise<readonly OpenAccount[]> {
  const { fromConnectionId, toConnectionId } = request as MigrationRequest
  return await inTransaction(database, async (client) => {
    if (!(await keepsMoving(client, { operatorId, fromConnectionId, toConnectionId }))) return []
    const left = ownMoneyLeft(await readTies(through(client), fromConnectionId))
    const now = clock.now()
    const reader = accounts.within(client)
    for (const { currency, amount } of left) {
      const at = async (connectionId: string) => ({
        connectionId,
        accounts: await reader.accounts({ operatorId, connectionId, currency }),
      })
      const [from, to] = [await at(fromConnectionId), await at(toConnectionId)]
      const leg = {
        subject: { object: 'connection', id: fromConnectionId },
        ...{ customerId: operatorId, operatorId, shard: shardOf(operatorId), currency },
        ...(amount < 0n ? { amount: -amount, from: to, to: from } : { amount, from, to }),
        description: 'Money of the operator moved to another connection',
      } as const
      await writeEffects({ client, now }, moveCash(leg, { ids, now }))
    }
    return left
  })
}

/**
 * Moves one balance; false when something of it is under way.
 *
 * @throws ProblemError `invalid-transition` when the connections are no longer as they have to be
 */
async function moveBalance(deps: MigrationDeps, job: JobRecord, id: string): Promise<boolean> {
  const { database, clock, ids } = deps
  const { fromConnectionId, toConnectionId } = job.request as MigrationRequest
  const { operatorId } = job
  return await inTransaction(database, async (client) => {
    if (!(await keepsMoving(client, { operatorId, fromConnectionId, toConnectionId })))
      throw new ProblemError(
        transitionProblem('The connections are no longer draining and active.', null, ['draining', 'active']),
      )
    const balance = await lockMovingBalance(client, { id, operatorId, connectionId: fromConnectionId })
    if (balance === null || !balance.isThere || balance.status === 'closed') return true
    if ((await underWayAt(client, balance, fromConnectionId)) > 0) return false
    const now = clock.now()
    const move: BalanceMove = {
      ...{ id: ids.next(), operatorId, fromConnectionId, toConnectionId, jobId: job.id },
      ...{ balanceId: id, currency: balance.currency, amount: balance.posted, movedAt: now },
    }
    const postings = await cashLeg(deps, client, move, balance)
    if (postings.length > 0) await writeEffects({ client, now }, { postings })
    await putBalance(client, id, toConnectionId, now)
    await moveAccounts(deps, client, move, balance)
    await deps.moveCash(client, move)
    await insertMove(client, move, balance.customerId)
    return true
  })
}

/** The cash leg of a move (L96): from the old connection to the new one, and back for an overdrawn balance. */
async function cashLeg(
  { accounts, ids }: MigrationDeps,
  client: TransactionClient,
  { id, operatorId, fromConnectionId, toConnectionId, amount, currency, movedAt }: BalanceMove,
  { customerId }: MovingBalance,
): Promise<readonly Posting[]> {
  if (amount === 0n) return []
  const reader = accounts.within(client)
  const at = (connectionId: string): Promise<InternalAccounts> =>
    reader.accounts({ operatorId, connectionId, currency })
  const [from, to] = [await at(fromConnectionId), await at(toConnectionId)]
  return entry({
    rule: 'L96',
    amounts: { A: amount < 0n ? -amount : amount },
    currency,
    ...(amount < 0n ? { accounts: to, toAccounts: from } : { accounts: from, toAccounts: to }),
    balances: NO_BALANCE,
    entryId: ids.next(),
    customerId,
    source: { object: 'connection_move', id },
    description: 'Balance moved to another connection',
    bookedAt: movedAt,
    valueDate: dateIn(movedAt, 'UTC'),
  })
}

/**
 * Requests accounts at the new partner in place of those at the old one. Where the new partner opens none, payers are
 * told at once that the old ones end.
 */
async function moveAccounts(
  { ids, opensAccounts }: MigrationDeps,
  client: TransactionClient,
  { fromConnectionId, toConnectionId, movedAt: now }: BalanceMove,
  { id, customerId, operatorId, shard }: MovingBalance,
): Promise<void> {
  const old = await lockAccountsAt(client, id, fromConnectionId)
  if (old.length === 0) return
  if (await opensAccounts(client, toConnectionId)) return await requestAccounts(client, id, old, { ids, now })
  await retireAccounts(client, old, now + REPLACED_FOR_MS)
  await writeEvent(client, {
    id: ids.next(),
    createdAt: now,
    customerId,
    operatorId,
    shard,
    type: 'balance.details_changed',
    object: 'balance',
    objectId: id,
    status: 'provider_switch',
    previousStatus: null,
    amount: null,
    currency: null,
  })
}
