/**
 * The moves of a contract that can be drawn from: a forward or a held rate. Each move is decided from its arguments
 * alone. Pure.
 *
 *   forward      none ─▶ awaiting_deposit ──deposit──▶ active ──draw──▶ partially_drawn ──draw──▶ completed
 *                             │                          │  └──── call (margin) ────▶ awaiting_deposit (still drawable)
 *                             └─ cancel, no deposit ─▶ cancelled        mature, no money ─▶ overdue ─▶ completed
 *                awaiting_deposit after a call, or overdue, when the time limit has passed ─▶ closed_out
 *   held rate    none ─▶ active ──draw──▶ partially_drawn ──draw──▶ completed
 *                             ├─ time over ─▶ expired     (also from partially_drawn)
 *                             └─ cancel ─▶ cancelled
 *
 * A failed drawdown gives its amounts back, and a completed contract is then open again. Every other move is refused
 * with `invalid-transition`, or with a more specific problem. Amounts are bigint minor units, times epoch milliseconds.
 */
import type { CurrencyCode } from '../base/currency.ts'
import { formatMajor } from '../base/money.ts'
import { type Problem, transitionProblem } from '../base/problems.ts'
import { draw, giveBack } from './drawdown.ts'
import type { Deposit, ExchangeRecord, ExchangeStatus } from './exchange.ts'
import type { FixedSide, Sides } from './rate.ts'

/** An exchange that is a contract. */
export type Contract = ExchangeRecord & {
  readonly kind: 'forward' | 'held_rate'
  readonly remainingSell: bigint
  readonly remainingBuy: bigint
}

/** Narrows an exchange to a contract. @throws when the exchange is no contract, which is a bug */
export function asContract(exchange: ExchangeRecord): Contract {
  if (!isContract(exchange)) throw new Error(`The exchange ${exchange.id} is no contract.`)
  return exchange
}

/** Whether an exchange is a contract: a forward or a held rate, with remaining amounts. */
export function isContract(exchange: ExchangeRecord): exchange is Contract {
  return (
    (exchange.kind === 'forward' || exchange.kind === 'held_rate') &&
    exchange.remainingSell !== null &&
    exchange.remainingBuy !== null
  )
}

export type ContractMove =
  /**
   * Pays money into the deposit; `amount` null: all that is outstanding. `places`: the partner wants to keep the
   * deposit.
   */
  | { readonly kind: 'deposit'; readonly amount: bigint | null; readonly places: boolean }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'deposit_missed' }
  /** `automatic`: the drawdown made by the timer when the contract is mature. */
  | { readonly kind: 'draw'; readonly side: FixedSide; readonly amount: bigint; readonly automatic?: true }
  | {
      readonly kind: 'drawdown_failed'
      readonly sides: Sides
      readonly depositUsed: bigint
      readonly depositPlacedUsed: bigint
      readonly now: number
    }
  /** A margin call: a further deposit of this amount is due by `until`. */
  | { readonly kind: 'call'; readonly amount: bigint; readonly until: number }
  | { readonly kind: 'overdue' }
  /** `loss` of the customer, in the currency sold; a negative value is a gain. */
  | { readonly kind: 'close_out'; readonly loss: bigint }
  | { readonly kind: 'expire' }

/** The members of a contract that a move changes. */
export type ContractChange = Pick<Contract, 'status' | 'remainingSell' | 'remainingBuy' | 'drawdownCount' | 'deposit'>

/** The result of a move: the changed members, and the money that moves with them. */
export interface ContractMoved {
  readonly change: ContractChange
  /** The amount paid into the deposit. */
  readonly paid?: bigint
  /** The amounts drawn, and the part of them that the deposit pays for. */
  readonly drawn?: { readonly sides: Sides; readonly depositUsed: bigint; readonly depositPlacedUsed: bigint }
  /** The part of the deposit that goes back to the customer, and how much of it was placed with the partner. */
  readonly released?: Kept
  /** The deposit kept when the contract was unwound, and the customer's loss; a negative loss is a gain. */
  readonly unwound?: { readonly deposit: Kept; readonly loss: bigint }
}

/** A kept deposit, and the part of it that is placed with the partner. */
export interface Kept {
  readonly amount: bigint
  readonly placed: bigint
}

export type ContractDecision = ContractMoved | { readonly refused: Problem }

/** The statuses in which each move of a contract is allowed; after a margin call it can be drawn from as well. */
export const ALLOWED_IN = {
  deposit: ['awaiting_deposit'],
  draw: ['active', 'partially_drawn'],
  drawdown_failed: ['active', 'partially_drawn', 'awaiting_deposit', 'completed', 'overdue'],
  deposit_missed: ['awaiting_deposit'],
  call: ['active', 'partially_drawn'],
  overdue: ['active', 'partially_drawn'],
  close_out: ['overdue', 'awaiting_deposit'],
  expire: ['active', 'partially_drawn'],
} as const satisfies Readonly<Partial<Record<ContractMove['kind'], readonly ExchangeStatus[]>>>

/** Refuses a move that the present state does not allow, with a 409. */
export function notNow(
  contract: Pick<Contract, 'status'>,
  move: keyof typeof ALLOWED_IN,
  detail = `The contract is ${contract.status}.`,
): { readonly refused: Problem } {
  return { refused: transitionProblem(detail, contract.status, ALLOWED_IN[move]) }
}

const notCancellable = ({ status }: Pick<Contract, 'status'>): { readonly refused: Problem } => ({
  refused: { slug: 'not-cancellable', detail: `The contract is ${status}.`, extra: { currentStatus: status } },
})

/** Computes the amount still missing from a deposit. */
export function outstandingOf({ required, received }: Pick<Deposit, 'required' | 'received'>): bigint {
  return required > received ? required - received : 0n
}

/** Returns the amount kept as a deposit now: all that was received, until it is used or given back. */
export function keptOf(deposit: Deposit | null): Kept {
  const isKept =
    deposit !== null &&
    (deposit.status === 'awaiting' || deposit.status === 'received' || deposit.status === 'margin_call')
  return isKept ? { amount: deposit.received, placed: deposit.placed } : { amount: 0n, placed: 0n }
}

/** Whether the contract waits for a further deposit after a margin call. */
export const isCalled = ({ status, deposit }: Pick<Contract, 'status' | 'deposit'>): boolean =>
  status === 'awaiting_deposit' && deposit?.status === 'margin_call'

/** Whether the contract can be drawn from and waits for no deposit. */
export const isOpen = ({ status }: Pick<Contract, 'status'>): boolean =>
  status === 'active' || status === 'partially_drawn'

/**
 * Returns a contract as it counts at `now` (epoch milliseconds): from its deadline on a held rate is expired, and a
 * forward without its first deposit is cancelled, also before the timer has run. A margin call can be paid until the
 * contract is closed out.
 */
export function contractAt(contract: Contract, now: number): Contract {
  const { kind, heldUntil, deposit } = contract
  const isOver = (deadline: number | null | undefined): boolean => typeof deadline === 'number' && deadline <= now
  if (kind === 'held_rate' && isOpen(contract) && isOver(heldUntil)) return { ...contract, status: 'expired' }
  return contract.status === 'awaiting_deposit' && !isCalled(contract) && isOver(deposit?.dueAt)
    ? { ...contract, status: 'cancelled' }
    : contract
}

/** Returns the status of an open contract. */
const openStatus = (total: bigint, remaining: bigint): 'active' | 'partially_drawn' =>
  remaining === total ? 'active' : 'partially_drawn'

/** Builds the deposit of a new forward, also of one that needs none yet, because a margin call may follow. */
export function firstDeposit(required: bigint | null, currency: CurrencyCode, dueAt: number): Deposit {
  const asks = required !== null && required > 0n
  return {
    status: asks ? 'awaiting' : 'not_required',
    currency,
    required: required ?? 0n,
    received: 0n,
    placed: 0n,
    dueAt: asks ? dueAt : null,
  }
}

/** Returns the first status of a contract, when it needs no approval or is approved. */
export function begun({ kind, deposit }: Pick<ExchangeRecord, 'kind' | 'deposit'>): 'awaiting_deposit' | 'active' {
  return kind === 'forward' && deposit !== null && outstandingOf(deposit) > 0n ? 'awaiting_deposit' : 'active'
}

/** Decides a move. */
export function moveContract(contract: Contract, move: ContractMove): ContractDecision {
  const { status, remainingSell, remainingBuy, drawdownCount, deposit } = contract
  const same: ContractChange = { status, remainingSell, remainingBuy, drawdownCount, deposit }
  const waitsForFirst = status === 'awaiting_deposit' && !isCalled(contract)
  switch (move.kind) {
    case 'deposit':
      return paid(contract, same, move)
    case 'draw':
      return drawn(contract, same, move)
    case 'drawdown_failed':
      return gaveBack(contract, same, move)
    case 'cancel':
      return (contract.kind === 'held_rate' ? status === 'active' : waitsForFirst)
        ? released(same, 'cancelled')
        : notCancellable(contract)
    case 'deposit_missed':
      return waitsForFirst ? released(same, 'cancelled') : notNow(contract, move.kind)
    case 'call': {
      if (!isOpen(contract) || deposit === null) return notNow(contract, move.kind)
      const { amount: received, placed } = keptOf(deposit)
      return {
        change: {
          ...same,
          status: 'awaiting_deposit',
          deposit: {
            ...deposit,
            status: 'margin_call',
            required: received + move.amount,
            received,
            placed,
            dueAt: move.until,
          },
        },
      }
    }
    case 'overdue':
      return isOpen(contract) && contract.kind === 'forward'
        ? { change: { ...same, status: 'overdue' } }
        : notNow(contract, move.kind)
    case 'close_out':
      return status === 'overdue' || isCalled(contract) ? closedOut(same, move.loss) : notNow(contract, move.kind)
    case 'expire':
      return isOpen(contract) && contract.kind === 'held_rate'
        ? { change: { ...same, status: 'expired' } }
        : notNow(contract, move.kind)
    default:
      return move satisfies never
  }
}

/** Pays into the deposit; when it is complete, the contract is open. */
function paid(
  contract: Contract,
  same: ContractChange,
  { amount: asked, places }: Extract<ContractMove, { kind: 'deposit' }>,
): ContractDecision {
  const { deposit } = contract
  if (contract.status !== 'awaiting_deposit' || deposit === null)
    return notNow(contract, 'deposit', 'No deposit is due.')
  const outstanding = outstandingOf(deposit)
  const amount = asked ?? outstanding
  if (amount > outstanding)
    return tooLarge(outstanding, contract.sellCurrency, 'The amount is above the missing deposit.')
  const is: Deposit = {
    ...deposit,
    received: deposit.received + amount,
    placed: deposit.placed + (places ? amount : 0n),
  }
  if (amount < outstanding) return { change: { ...same, deposit: is }, paid: amount }
  return {
    change: {
      ...same,
      status: openStatus(contract.sellAmount, contract.remainingSell),
      deposit: { ...is, status: 'received', dueAt: null },
    },
    paid: amount,
  }
}

/** Draws from the contract. The last drawdown uses the deposit as far as it reaches, and gives back the rest. */
function drawn(
  contract: Contract,
  same: ContractChange,
  { side, amount, automatic }: Extract<ContractMove, { kind: 'draw' }>,
): ContractDecision {
  const { status, deposit } = contract
  if (!isOpen(contract) && !isCalled(contract) && !(status === 'overdue' && automatic === true))
    return notNow(contract, 'draw')
  const taken = draw(
    { sell: contract.remainingSell, buy: contract.remainingBuy },
    { ...contract, fixedSide: side, amount },
  )
  if (taken.kind === 'too_large')
    return tooLarge(
      taken.remaining,
      side === 'sell' ? contract.sellCurrency : contract.buyCurrency,
      'The amount is above the remaining amount of the contract.',
    )
  if (taken.kind === 'too_small') {
    const message = 'It, or what it would leave, is worth less than a minor unit of the other currency.'
    return {
      refused: {
        slug: 'validation-error',
        detail: message,
        errors: [{ field: '/amount', code: 'amount_too_small', message }],
      },
    }
  }
  const { sides, left } = taken
  const change = { ...same, remainingSell: left.sell, remainingBuy: left.buy, drawdownCount: same.drawdownCount + 1 }
  const nothing = { sides, depositUsed: 0n, depositPlacedUsed: 0n }
  if (left.sell > 0n)
    return { change: { ...change, status: isCalled(contract) ? status : 'partially_drawn' }, drawn: nothing }
  const kept = keptOf(deposit)
  if (deposit === null || kept.amount === 0n) {
    // An unpaid margin call is no longer needed.
    return {
      change: {
        ...change,
        status: 'completed',
        deposit: deposit?.status === 'margin_call' ? { ...deposit, status: 'released', dueAt: null } : deposit,
      },
      drawn: nothing,
    }
  }
  const depositUsed = kept.amount < sides.sell ? kept.amount : sides.sell
  const depositPlacedUsed = kept.placed < depositUsed ? kept.placed : depositUsed
  return {
    change: { ...change, status: 'completed', deposit: { ...deposit, status: 'applied', dueAt: null } },
    drawn: { sides, depositUsed, depositPlacedUsed },
    ...(kept.amount > depositUsed
      ? { released: { amount: kept.amount - depositUsed, placed: kept.placed - depositPlacedUsed } }
      : {}),
  }
}

/** Returns the amounts of a failed drawdown to the contract, including the part that the deposit paid. */
function gaveBack(
  contract: Contract,
  same: ContractChange,
  { sides, depositUsed, depositPlacedUsed, now }: Extract<ContractMove, { kind: 'drawdown_failed' }>,
): ContractDecision {
  const left = giveBack({ sell: contract.remainingSell, buy: contract.remainingBuy }, sides)
  const { deposit, status, heldUntil } = contract
  const reopens = status === 'completed' || isOpen(contract)
  const isOver = heldUntil !== null && heldUntil <= now
  return {
    change: {
      ...same,
      remainingSell: left.sell,
      remainingBuy: left.buy,
      status: !reopens ? status : isOver ? 'expired' : openStatus(contract.sellAmount, left.sell),
      deposit:
        depositUsed === 0n || deposit === null
          ? deposit
          : { ...deposit, status: 'received', received: depositUsed, placed: depositPlacedUsed },
    },
  }
}

/** Gives back the whole deposit that is kept. */
function released(same: ContractChange, status: Contract['status']): ContractMoved {
  const { deposit } = same
  if (deposit === null || deposit.status === 'not_required') return { change: { ...same, status } }
  const kept = keptOf(deposit)
  return {
    change: { ...same, status, deposit: { ...deposit, status: 'released', placed: 0n, dueAt: null } },
    ...(kept.amount > 0n ? { released: kept } : {}),
  }
}

/** Closes out the contract: its loss or gain on the market is settled, out of the deposit first. */
function closedOut(same: ContractChange, loss: bigint): ContractMoved {
  const { deposit } = same
  const kept = keptOf(deposit)
  const status = loss > 0n && kept.amount > 0n ? 'forfeited' : 'released'
  const is =
    deposit === null || deposit.status === 'applied' || deposit.status === 'not_required'
      ? deposit
      : ({ ...deposit, status, placed: 0n, dueAt: null } as const)
  return { change: { ...same, status: 'closed_out', deposit: is }, unwound: { deposit: kept, loss } }
}

function tooLarge(remaining: bigint, currency: CurrencyCode, message: string): { readonly refused: Problem } {
  return {
    refused: {
      slug: 'validation-error',
      detail: `${message} It is ${formatMajor(remaining, currency)} ${currency}.`,
      errors: [{ field: '/amount', code: 'too_large', message, params: { remaining: remaining.toString(), currency } }],
    },
  }
}
