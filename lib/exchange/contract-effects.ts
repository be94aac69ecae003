/**
 * The effects of a contract's moves: its row, its update, its event, and the postings of its deposit (L40 to L45).
 *
 * A deposit is debited from the paying balance; money that goes back is credited to the balance that the contract sells
 * from.
 */
import { MINUTE_MS } from '../base/clock.ts'
import type { Effects, StatusUpdate } from '../decisions/effects.ts'
import type { ExchangeMove } from './effects.ts'
import type { Posting } from '../ledger/posting.ts'
import { entry, type InternalAccounts } from '../ledger/entry.ts'
import { intoSuspense, type SuspenseOrigin } from '../incoming-payments/suspense.ts'
import type { IdSource } from '../base/ids.ts'
import type { RuleId } from '../ledger/postings.ts'
import { exchangeEvents, exchangeUpdate } from './booking.ts'
import { isOpen, type Contract, type ContractMoved, type Kept } from './contract.ts'
import { maturityOf, SANDBOX_MARGIN_CALL } from './forward-terms.ts'

/** Delay between two valuations of a forward against the market, and between two looks for money when it is overdue. */
const MARK_MS = MINUTE_MS
const OVERDUE_MS = 10_000
/** Delay before an automatic drawdown that failed is made again. */
const AGAIN_MS = 15 * MINUTE_MS

export interface ContractContext {
  readonly ids: IdSource
  /** Epoch milliseconds. */
  readonly now: number
  /** The accounts of the currency sold, including the customer's own `fx_deposit`. */
  readonly accounts: InternalAccounts
  readonly by: StatusUpdate['actor']
  /** The business day for which money counts. */
  readonly valueDate: string
  /** The message in the update log. */
  readonly message: string
  /** The balance that a deposit is paid from. */
  readonly payingBalanceId?: string
  /**
   * The id of the suspense item for money that goes back; given only when the balance that the contract sells from
   * accepts no money any more, so that the money waits there for its owner.
   */
  readonly suspenseId?: string | undefined
  readonly sandbox: boolean
}

/** Computes when the contract's timer runs next, epoch milliseconds; null when nothing is due any more. */
export function dueAtOf(contract: Contract, now: number, { sandbox }: { readonly sandbox: boolean }): number | null {
  if (contract.status === 'awaiting_deposit') return contract.deposit?.dueAt ?? null
  if (contract.status === 'overdue') return now + OVERDUE_MS
  if (!isOpen(contract)) return null
  if (contract.kind === 'held_rate') return contract.heldUntil
  const maturity = maturityOf(contract.settlementDate)
  if (maturity <= now) return now
  const marked = sandbox && contract.sellAmount === SANDBOX_MARGIN_CALL.amount ? SANDBOX_MARGIN_CALL.afterMs : MARK_MS
  return Math.min(maturity, now + marked)
}

/** Returns the contract after a move. */
export function contractAfter(contract: Contract, { change }: Pick<ContractMoved, 'change'>, now: number): Contract {
  return { ...contract, ...change, version: contract.version + 1, updatedAt: now }
}

/** Builds all rows of a move, except those of a drawdown's own exchange. */
export function contractEffects(
  contract: Contract,
  moved: ContractMoved,
  context: ContractContext,
): Omit<Effects, 'exchangeChanges'> & { readonly exchangeChanges: readonly [ExchangeMove] } {
  const { ids, now, by, message, sandbox } = context
  const after = contractAfter(contract, moved, now)
  const { deposit } = after
  const failedAfterMaturity =
    moved.drawn === undefined &&
    contract.status === 'completed' &&
    isOpen(after) &&
    after.kind === 'forward' &&
    maturityOf(after.settlementDate) <= now
  const postings = postingsOf(contract, moved, after.version, context)
  return {
    ...(context.suspenseId === undefined
      ? { postings }
      : intoSuspense({ postings }, itemOf(contract, context.suspenseId, context), context.accounts)),
    exchangeChanges: [
      {
        id: contract.id,
        version: contract.version,
        status: after.status,
        updatedAt: now,
        payment: 'none',
        remainingSell: after.remainingSell,
        remainingBuy: after.remainingBuy,
        drawdownCount: after.drawdownCount,
        dueAt: failedAfterMaturity ? now + AGAIN_MS : dueAtOf(after, now, { sandbox }),
        ...(deposit === null
          ? {}
          : {
              depositStatus: deposit.status,
              depositRequired: deposit.required,
              depositReceived: deposit.received,
              depositPlaced: deposit.placed,
              depositDueAt: deposit.dueAt,
            }),
      },
    ],
    statusUpdates: [exchangeUpdate(after, contract.status, message, by, now)],
    events: after.status === contract.status ? [] : exchangeEvents(after, contract.status, ids, now),
  }
}

/** Builds the suspense item for money that goes back to a balance that accepts no money any more. */
function itemOf(
  { id: originId, operatorId, connectionId, shard, number }: Contract,
  id: string,
  { valueDate, now }: ContractContext,
): SuspenseOrigin {
  return {
    id,
    operatorId,
    connectionId,
    shard,
    originId,
    payerName: null,
    reference: `Deposit of forward ${number}`,
    rail: null,
    valueDate,
    receivedAt: now,
  }
}

/**
 * Builds the postings of a move. `occurrence` distinguishes entries of one rule: a contract makes at most one entry of
 * each rule in one version.
 */
function postingsOf(contract: Contract, moved: ContractMoved, occurrence: number, context: ContractContext): Posting[] {
  const { paid, released, unwound } = moved
  const post = poster(contract, occurrence, context)
  if (paid !== undefined) {
    const before = contract.deposit?.placed ?? 0n
    const placed = (moved.change.deposit?.placed ?? 0n) - before
    return [
      ...post('L40', { D: paid }, { from: context.payingBalanceId }),
      ...(placed > 0n ? post('L41', { D: placed }) : []),
    ]
  }
  if (released !== undefined) return [...takenBack(post, released), ...post('L42', { D: released.amount })]
  if (unwound === undefined) return []
  const { deposit, loss } = unwound
  const back = takenBack(post, deposit)
  if (loss > 0n) {
    const rest = deposit.amount - loss
    return [...back, ...post('L44', { P: loss, D: deposit.amount }), ...(rest > 0n ? post('L42', { D: rest }) : [])]
  }
  if (loss < 0n) return [...back, ...post('L45', { P: -loss, D: deposit.amount })]
  return deposit.amount > 0n ? [...back, ...post('L42', { D: deposit.amount })] : []
}

type Post = (
  rule: RuleId,
  amounts: { readonly D?: bigint; readonly P?: bigint },
  options?: { readonly from?: string | undefined; readonly reverses?: RuleId },
) => Posting[]

/** Takes back the part of a deposit that was placed with the partner: it is available again. */
function takenBack(post: Post, { placed }: Kept): Posting[] {
  return placed > 0n ? post('L41', { D: placed }, { reverses: 'L41' }) : []
}

const DESCRIPTIONS: Partial<Record<RuleId, string>> = {
  L40: 'Deposit of forward',
  L42: 'Deposit of forward',
  L44: 'Close-out of forward',
  L45: 'Close-out of forward',
}

function poster(contract: Contract, occurrence: number, { ids, now, accounts, valueDate }: ContractContext): Post {
  return (rule, amounts, { from = contract.sellBalanceId, reverses } = {}) =>
    entry({
      rule,
      amounts,
      currency: contract.sellCurrency,
      accounts,
      balances: { from, to: { id: contract.sellBalanceId, fence: 'open' } },
      entryId: ids.next(),
      customerId: contract.customerId,
      source: { object: 'exchange', id: contract.id },
      occurrence,
      description: `${DESCRIPTIONS[rule] ?? 'Forward'} ${contract.number}`,
      reference: contract.reference,
      bookedAt: now,
      valueDate,
      ...(reverses === undefined ? {} : { reverses: { entryId: null, rule: reverses } }),
    })
}
