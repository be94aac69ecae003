/**
 * Closes a balance: moves the rest of its money to another balance by a transfer (L20) and begins to close it, in one
 * transaction.
 *
 * The decision is made under the locks of all balances of the customer in that currency, because it also chooses the
 * new default balance among them. The versions of the changed balances rise, so that no actor on any node can commit on
 * the state in its cache.
 */
import { NO_REQUEST } from '../../lib/balances/decision.ts'
import { CLOSABLE_STATUSES, closingProblem } from '../../lib/balances/closing.ts'
import { dateIn, type Clock } from '../../lib/base/clock.ts'
import { orderNumber, type IdSource } from '../../lib/base/ids.ts'
import { moneyProblem } from '../../lib/customers/money-access.ts'
import { createTransfer } from '../../lib/transfers/transfer.ts'
import { ProblemError, refuse, type FieldErrorCode, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import { lockSiblings, setDefault, type BalanceRecord } from '../../storage/balances/balance-changes.ts'
import { currencyOfBalance, postedOfBalance } from '../../storage/balances/balance-lookups.ts'
import { payingBalance } from '../../storage/balances/staff-holds.ts'
import { openSubBalances, underWayOf } from '../../storage/balances/balance-ties.ts'
import type { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import { loadBalances } from '../../storage/balances/balance-states.ts'
import { balanceWithin } from '../../storage/balances/balance-queries.ts'
import { through, type TransactionClient } from '../../storage/db/transaction.ts'
import type { Balance } from '../../lib/balances/balance-schema.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import { decideOnce, type RunOnceDeps } from '../commands/run-once.ts'
import { beginClosing } from './account-details.ts'
import { Overloaded } from '../runtime/lane.ts'
import { transferSubject } from '../transfers/transfer-orders.ts'
import type { ScreeningGate } from '../../lib/compliance/screening.ts'

/** Attempts to close a balance whose money changes at the same time. */
const ATTEMPTS_MAX = 5

export interface CloseBalanceDeps extends RunOnceDeps {
  readonly clock: Clock
  readonly ids: IdSource
  readonly orderNumbers: OrderNumbers
  /** Screens the transfer of the remaining money. */
  readonly gate: ScreeningGate
}

export interface Closing {
  readonly customerId: string
  readonly balanceId: string
  /** Balance that receives the remaining money; null: the balance must be empty. */
  readonly sweepToBalanceId: string | null
  readonly createdBy: string
  readonly createdVia: 'web' | 'mobile' | 'api_key'
}

/** The result of a closure, for the trail. */
export interface Closed {
  readonly before: BalanceRecord
  readonly status: 'closing' | 'closed'
  readonly transferId: string | null
}

/**
 * Closes a balance, once for each key; `trail` runs in its transaction.
 *
 * @throws ProblemError `not-found`, `validation-error` for a balance that cannot take the rest, `invalid-transition`, and
 * what `decideOnce` throws
 * @throws Overloaded when the balance changed at each of `ATTEMPTS_MAX` attempts
 */
export async function closeBalance(
  deps: CloseBalanceDeps,
  command: Pick<Command<unknown>, 'idempotency'>,
  closing: Closing,
  trail: (client: TransactionClient, closed: Closed, now: number) => Promise<void>,
): Promise<CommandAnswer<Balance, 200>> {
  const { customerId, balanceId } = closing
  for (let attempt = 1; ; attempt++) {
    const rest = await screenRest(deps, closing)
    // A transaction that has a connection must not wait for a second one.
    const number = orderNumber('TRF', await deps.orderNumbers.take())
    try {
      return await decideOnce(deps, command, 200, async (client) => {
        await tryToClose(deps, client, { ...closing, number, rest }, trail)
        const shown = (await balanceWithin(through(client), customerId, balanceId)) ?? refuseNotFound()
        return { shown, tagged: true }
      })
    } catch (error) {
      if (!(error instanceof RestChanged)) throw error
      if (attempt === ATTEMPTS_MAX) throw new Overloaded('The amount of the balance keeps changing; try again.')
    }
  }
}

/** The balance holds another amount than was screened; the transaction is rolled back, and the closure tried again. */
class RestChanged extends Error {}

/** The remaining money as it was screened; no other amount is moved. */
interface Rest {
  readonly amount: bigint
  /** Whether screening had a hit, or failed. */
  readonly held: boolean
}

async function screenRest(
  { database, gate }: CloseBalanceDeps,
  { balanceId, customerId, sweepToBalanceId }: Closing,
): Promise<Rest> {
  const amount = sweepToBalanceId === null ? 0n : ((await postedOfBalance(database, customerId, balanceId)) ?? 0n)
  if (amount <= 0n) return { amount: 0n, held: false }
  return {
    amount,
    held: await gate.screen([transferSubject(balanceId, amount, null)]).then(
      ({ size }) => size > 0,
      () => true,
    ),
  }
}

interface Attempt extends Closing {
  readonly number: string
  readonly rest: Rest
}

/**
 * Closes the balance within the transaction.
 *
 * @throws RestChanged when the balance holds another amount than was screened
 */
async function tryToClose(
  deps: CloseBalanceDeps,
  client: TransactionClient,
  attempt: Attempt,
  trail: (client: TransactionClient, closed: Closed, now: number) => Promise<void>,
): Promise<void> {
  const { clock, ids } = deps
  const now = clock.now()
  const siblings = await lockSiblings(client, attempt.customerId, attempt.balanceId)
  const balance = siblings.find(({ id }) => id === attempt.balanceId) ?? refuseNotFound()
  const target =
    attempt.sweepToBalanceId === null ? null : await targetOf(client, balance, siblings, attempt.sweepToBalanceId)
  const ties = { subBalances: await openSubBalances(client, balance.id), underWay: await underWayOf(client, balance) }
  const problem = closingProblem(balance, ties, target !== null)
  if (problem !== null) throw new ProblemError(problem)
  // The door has asked for the customer's standing too; under the lock the answer holds until the end.
  const paying = (await payingBalance(client, balance.id)) ?? refuseNotFound()
  const barred = moneyProblem(paying, 'move')
  if (barred !== null) throw new ProblemError(barred)
  if (balance.posted > 0n && balance.posted !== attempt.rest.amount) throw new RestChanged()
  if (attempt.rest.held)
    refuseTransition(
      'The remaining amount cannot be moved at once; move it by a transfer first.',
      balance.status,
      CLOSABLE_STATUSES,
    )
  const transferId =
    balance.posted > 0n && target !== null ? await sweep(deps, client, { ...attempt, balance, target, now }) : null
  const status = await beginClosing(client, balance, { ids, now })
  const heir = balance.isDefault ? heirOf(balance, target, siblings) : undefined
  if (heir !== undefined) await setDefault(client, heir.id, true, now)
  await trail(client, { before: balance, status, transferId }, now)
}

/** Returns the new default balance: the balance that received the money, or else the oldest. */
function heirOf(
  balance: BalanceRecord,
  target: BalanceRecord | null,
  siblings: readonly BalanceRecord[],
): BalanceRecord | undefined {
  if (target?.type === 'main') return target
  return siblings.find(({ id, type, status }) => id !== balance.id && type === 'main' && status === 'active')
}

async function targetOf(
  client: TransactionClient,
  balance: BalanceRecord,
  siblings: readonly BalanceRecord[],
  id: string,
): Promise<BalanceRecord> {
  const wrong = (code: FieldErrorCode, message: string): never =>
    refuse('validation-error', message, { errors: [{ field: '/sweepToBalanceId', code, message }] })
  if (id === balance.id) return wrong('invalid_value', 'The balance to close cannot receive its own remaining amount.')
  const target = siblings.find((sibling) => sibling.id === id)
  if (target === undefined) {
    const currency = await currencyOfBalance(client, balance.customerId, id)
    return currency === null
      ? wrong('not_found', 'No such balance.')
      : wrong('currency_mismatch', `The balance is in ${currency}.`)
  }
  if (target.status !== 'active') return wrong('inactive', `The balance is ${target.status}.`)
  if (target.connectionId !== balance.connectionId)
    return wrong('account_not_eligible', 'The balance is at another bank; move the money by a transfer first.')
  return target
}

interface Sweep extends Attempt {
  readonly balance: BalanceRecord
  readonly target: BalanceRecord
  readonly now: number
}

/**
 * Moves the whole balance by an ordinary transfer.
 *
 * @returns the id of the transfer
 */
async function sweep(
  { ids }: CloseBalanceDeps,
  client: TransactionClient,
  { number, balance, target, now, createdBy, createdVia }: Sweep,
): Promise<string> {
  const reader = {
    query: async (statement: { name: string; text: string; values: unknown[] }) =>
      (await client.query({ ...statement, rowMode: 'array' })) as unknown as { rows: unknown[][] },
  }
  const state = (await loadBalances(reader, [balance.id], false)).get(balance.id)
  if (state === undefined) throw new Error(`The balance ${balance.id} is gone.`)
  const { reply, effects } = createTransfer(
    { ...state, status: 'active' },
    {
      kind: 'create_transfer',
      customerId: balance.customerId,
      key: null,
      problemRequest: NO_REQUEST,
      transferId: ids.next(),
      entryId: ids.next(),
      eventId: ids.next(),
      number,
      toBalanceId: target.id,
      toConnectionId: target.connectionId,
      byPartner: false,
      holdId: ids.next(),
      amount: balance.posted,
      currency: balance.currency,
      reference: null,
      createdBy,
      createdVia,
      externalId: null,
      externalIdOwner: null,
      creditRefused: false,
      policyRefusal: null,
      metadata: {},
      valueDate: dateIn(now, 'UTC'),
    },
    now,
  )
  if (reply.kind === 'refused') throw new ProblemError(reply.problem)
  if (reply.kind !== 'transfer_created' || effects === null)
    throw new Error(`The remaining amount of the balance ${balance.id} could not be moved.`)
  await writeEffects({ client, now }, effects, { balanceId: balance.id, version: state.version })
  return reply.transfer.id
}
