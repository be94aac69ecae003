/**
 * Cancels an exchange that has not taken effect yet. An exchange that waits for approval ends with its
 * approval. A contract that waits for its first deposit, or a held rate without a drawdown, is moved on the version
 * that was read.
 */
import { dateIn } from '../../lib/base/clock.ts'
import { contractAt, isContract, moveContract } from '../../lib/exchange/contract.ts'
import { contractAfter, contractEffects } from '../../lib/exchange/contract-effects.ts'
import { exchangeBody, type ExchangeKind, type ExchangeRecord } from '../../lib/exchange/exchange.ts'
import { together } from '../../lib/decisions/merge.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { CommitConflict, writeOrSuspend } from '../../storage/sections/write-effects.ts'
import { findExchange, readExchange } from '../../storage/exchange/exchanges.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { Approvals } from '../approvals/approvals.ts'
import { Overloaded } from '../runtime/lane.ts'
import type { Unmade } from '../commands/answers.ts'
import { auditBy, recordRefusal, unlessRecorded } from '../commands/recorded-outcomes.ts'
import { outcomeRecord } from '../../lib/decisions/outcome-record.ts'
import { accountsOfContract, type ContractDeps } from './exchange-contracts.ts'
import type { CommandOrigin } from '../commands/command-origin.ts'

export interface CancelExchangeDeps extends ContractDeps {
  readonly approvals: Pick<Approvals, 'cancel'>
}

type Recorded = Extract<Unmade, { readonly kind: 'recorded' }>

export type CancelExchangeOutcome =
  | { readonly kind: 'exchange_cancelled'; readonly exchange: ExchangeRecord }
  | Extract<Unmade, { readonly kind: 'refused' }>
  | Recorded

/**
 * Cancels an exchange of the caller's customer.
 *
 * @param kind the route of held rates gives `held_rate`; only that route cancels an active held rate
 * @throws ProblemError `not-found`; Overloaded, DatabaseUnavailable or OutcomeUnknown, safe to repeat under the same
 *   key
 */
export async function cancelExchange(
  deps: CancelExchangeDeps,
  caller: CommandOrigin,
  exchangeId: string,
  kind?: Extract<ExchangeKind, 'held_rate'>,
): Promise<CancelExchangeOutcome> {
  for (let attempt = 0; attempt < LIMITS.attemptsMax; attempt++) {
    const exchange = await findExchange(deps.database, exchangeId)
    if (
      exchange === null ||
      exchange.customerId !== caller.customerId ||
      (kind !== undefined && exchange.kind !== kind)
    )
      refuseNotFound()
    const outcome =
      exchange.status === 'pending_approval'
        ? await endApproval(deps, caller, exchange)
        : exchange.status === 'awaiting_deposit' || (kind !== undefined && exchange.status === 'active')
          ? await endContract(deps, caller, exchange)
          : 'refused'
    if (outcome === 'refused') {
      return await recordRefusal(deps, caller, {
        slug: 'not-cancellable',
        detail: 'The exchange can no longer be cancelled.',
        extra: { currentStatus: (isContract(exchange) ? contractAt(exchange, deps.clock.now()) : exchange).status },
      })
    }
    if (outcome !== 'moved_on') return outcome
  }
  throw new Overloaded('The exchange keeps changing; try again.')
}

/** Ends the approval, and returns the exchange as that leaves it. */
async function endApproval(
  { approvals }: CancelExchangeDeps,
  caller: CommandOrigin,
  exchange: ExchangeRecord,
): Promise<CancelExchangeOutcome | 'moved_on'> {
  let cancelled = exchange
  return await unlessRecorded(async () => {
    const ended = await approvals.cancel({
      approvalId: exchange.approvalId as string,
      reason: 'cancelled_by_user',
      by: auditBy(caller),
      effects: (now) => {
        cancelled = { ...exchange, status: 'cancelled', version: exchange.version + 1, updatedAt: now }
        return outcomeRecord(caller.key, 200, { type: 'exchange', id: exchange.id }, exchangeBody(cancelled), now)
      },
    })
    return ended ? { kind: 'exchange_cancelled' as const, exchange: cancelled } : 'moved_on'
  })
}

async function endContract(
  deps: CancelExchangeDeps,
  caller: CommandOrigin,
  known: ExchangeRecord,
): Promise<CancelExchangeOutcome | 'moved_on' | 'refused'> {
  const { database, clock, ids, sandbox } = deps
  const { id } = known
  if (!isContract(known)) return 'refused'
  // Read before the transaction, so that no code waits for a second connection while it holds one. Lock order: balances
  // before exchanges, so the version is the fence.
  const accounts = await accountsOfContract(deps, known)
  try {
    return await unlessRecorded(
      async () =>
        await inTransaction(database, async (client) => {
          const now = clock.now()
          const contract = (await readExchange(client, id))?.exchange
          if (contract === undefined || !isContract(contract)) return 'refused'
          const moved = moveContract(contractAt(contract, now), { kind: 'cancel' })
          if ('refused' in moved) return 'refused'
          const after = contractAfter(contract, moved, now)
          const context = {
            ids,
            now,
            accounts,
            by: 'member',
            valueDate: dateIn(now, 'UTC'),
            message: 'Contract cancelled.',
            sandbox,
          } as const
          await writeOrSuspend({ client, ids, now }, (suspenseId) => ({
            effects: together(
              contractEffects(contract, moved, { ...context, suspenseId }),
              outcomeRecord(caller.key, 200, { type: 'exchange', id }, exchangeBody(after), now),
            ),
          }))
          return { kind: 'exchange_cancelled' as const, exchange: after }
        }),
    )
  } catch (error) {
    // The deposit was paid in the same moment.
    if (error instanceof CommitConflict && error.conflicts.every(({ kind }) => kind === 'exchange_stale'))
      return 'moved_on'
    throw error
  }
}
