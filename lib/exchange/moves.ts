/**
 * The moves of a spot or a drawdown after its booking: the outcomes that the partner reports, or fails to report.
 *
 *   processing ──settle──▶ completed    posts L31 to L34, or L36 and L33 where no partner is involved
 *    │   └─────refuse────▶ failed       posts L35; a drawdown gives its amounts back to its contract
 *    └──doubt──▶ exception              the outcome is unknown; nothing is sent again
 *                   ├──settle──▶ completed
 *                   └──refuse──▶ failed
 *
 * A message that fits no row changes nothing: partners repeat themselves, are late, and contradict themselves.
 */
import type { FxMessageType } from '../providers/messages.ts'
import { timestamp } from '../base/clock.ts'
import { endsException, opensException, type Exceptional, type ExceptionKind } from '../compliance/exception.ts'
import type { Effects } from '../decisions/effects.ts'
import type { ExchangeMove } from './effects.ts'
import type { Posting } from '../ledger/posting.ts'
import { together } from '../decisions/merge.ts'
import { intoSuspense, type SuspenseOrigin } from '../incoming-payments/suspense.ts'
import { asContract, moveContract } from './contract.ts'
import { contractEffects } from './contract-effects.ts'
import { paymentAfter, queuedNow, type BoughtFor, type BoughtForContext } from './bought-for.ts'
import { bookingEntryId, exchangeEvents, exchangeUpdate } from './booking.ts'
import { exchangeEntry, type ExchangeAccounts } from './entries.ts'
import type { ExchangeRecord } from './exchange.ts'

/**
 * The state that the exchange's actor remembers: the exchange, the contract of a drawdown, and the payment that it buys
 * for.
 */
export interface ExchangeState {
  readonly exchange: ExchangeRecord
  readonly contract: ExchangeRecord | null
  readonly payment: BoughtFor | null
}

/** Further data that a move needs: ids, the accounts of the connection, the business day. */
export interface ExchangeMoveContext extends BoughtForContext {
  /** The accounts of both currencies; with the customer's own `fx_deposit` where a deposit was used. */
  readonly accounts: ExchangeAccounts
  readonly valueDate: string
  readonly sandbox: boolean
}

/** A message of the partner, logged once under the partner's own id. */
export interface FxPartnerMessage {
  readonly id: string
  readonly type: FxMessageType
}

/**
 * `suspenseId`: given when the credited balance accepts no money any more; the money then waits for its owner under
 * this id.
 */
export type ExchangeCommand = { readonly suspenseId?: string } /**
 * The amounts that the partner books, minor units. `netted`: no partner is involved, the operator itself is the other
 * side.
 */ & (
  | {
      readonly kind: 'settle'
      readonly sold: bigint
      readonly bought: bigint
      readonly netted: boolean
      readonly message: FxPartnerMessage | null
      readonly context: ExchangeMoveContext
    }
  /** `reason` is the partner's reason code. */
  | {
      readonly kind: 'refuse'
      readonly reason: string
      readonly message: FxPartnerMessage | null
      readonly context: ExchangeMoveContext
    }
  /** The partner did not answer, or answered that it does not know the outcome. */
  | {
      readonly kind: 'doubt'
      readonly why: 'timeout' | 'unclear'
      readonly message: FxPartnerMessage | null
      readonly context: ExchangeMoveContext
    }
)

export type ExchangeReply =
  /** `queued`: the payment that this move puts into the bank's queue. */
  | {
      readonly kind: 'moved'
      readonly exchange: ExchangeRecord
      readonly queued: { readonly id: string; readonly shard: number } | null
    }
  | { readonly kind: 'ignored'; readonly status: ExchangeRecord['status'] | null }

export interface ExchangeDecision {
  readonly state: ExchangeState | null
  readonly reply: ExchangeReply
  readonly effects: Effects | null
  readonly refused?: boolean
}

/** Decides one move. Pure: `now` is epoch milliseconds. */
export function moveExchange(state: ExchangeState | null, command: ExchangeCommand, now: number): ExchangeDecision {
  // A message is ignored only on fresh state (I4), because it is then acknowledged and the partner would not repeat it.
  if (state === null) return { state: null, reply: { kind: 'ignored', status: null }, effects: null, refused: true }
  const { exchange } = state
  const isOpen = exchange.status === 'processing' || (exchange.status === 'exception' && command.kind !== 'doubt')
  if (!isOpen) return { state, reply: { kind: 'ignored', status: exchange.status }, effects: null, refused: true }
  const made =
    command.kind === 'settle'
      ? settled(state, command, now)
      : command.kind === 'refuse'
        ? refused(state, command, now)
        : doubted(exchange, command, now)
  const message: Effects =
    command.message === null
      ? {}
      : {
          providerEvents: [
            {
              id: command.message.id,
              connectionId: exchange.connectionId,
              type: command.message.type,
              objectId: exchange.id,
              code: command.kind === 'refuse' ? command.reason : null,
              receivedAt: now,
            },
          ],
        }
  const booked =
    command.suspenseId === undefined
      ? made.effects
      : intoSuspense(
          made.effects,
          suspenseOf(exchange, command, command.suspenseId, now),
          command.context.accounts[command.kind === 'settle' ? 'buy' : 'sell'],
        )
  const effects = together(booked, message)
  // The state of an exchange with a payment is forgotten, so that the next move reads the payment again.
  const next =
    exchange.paymentId === null
      ? { exchange: made.exchange, contract: made.contract ?? state.contract, payment: null }
      : null
  const [move] = made.effects.exchangeChanges
  return { state: next, reply: { kind: 'moved', exchange: made.exchange, queued: queuedNow(move.payment) }, effects }
}

/** Builds the suspense item for money that goes to a balance that accepts no money any more. */
function suspenseOf(
  { id: originId, operatorId, connectionId, shard, number }: ExchangeRecord,
  { kind, context }: ExchangeCommand,
  id: string,
  now: number,
): SuspenseOrigin {
  const reference = `Exchange ${number} ${kind === 'settle' ? 'completed' : 'failed'}`
  return {
    id,
    operatorId,
    connectionId,
    shard,
    originId,
    payerName: null,
    reference,
    rail: null,
    valueDate: context.valueDate,
    receivedAt: now,
  }
}

interface Made {
  readonly exchange: ExchangeRecord
  readonly contract?: ExchangeRecord
  readonly effects: Omit<Effects, 'exchangeChanges'> & {
    readonly exchangeChanges: readonly [ExchangeMove, ...ExchangeMove[]]
  }
}

/** Completes the exchange with the amounts that the partner booked. */
function settled(
  { exchange, payment }: ExchangeState,
  { sold, bought, netted, context, suspenseId }: Extract<ExchangeCommand, { kind: 'settle' }>,
  now: number,
): Made {
  // If the bought money cannot be credited to its balance, the payment cannot be made from it.
  const outcome = suspenseId === undefined ? 'settled' : 'refused'
  const next: ExchangeRecord = {
    ...exchange,
    status: 'completed',
    version: exchange.version + 1,
    settledAt: now,
    partnerSold: sold,
    partnerBought: bought,
    exception: null,
    updatedAt: now,
  }
  return {
    exchange: next,
    effects: {
      exchangeChanges: [
        {
          id: exchange.id,
          version: exchange.version,
          status: 'completed',
          updatedAt: now,
          payment: paymentAfter(exchange, payment, outcome, context, now),
          settledAt: now,
          partnerSold: sold,
          partnerBought: bought,
          ...(exchange.exception === null ? {} : { exception: null }),
        },
      ],
      postings: settlement(exchange, { sold, bought, netted }, context, now),
      fxOrdersDone: [exchange.id],
      statusUpdates: [exchangeUpdate(next, exchange.status, 'Exchange completed.', 'partner', now)],
      events: exchangeEvents(next, exchange.status, context.ids, now),
      ...endsException(exceptional(exchange), 'completed', now),
    },
  }
}

function settlement(
  exchange: ExchangeRecord,
  { sold: Sp, bought: Bp, netted }: { readonly sold: bigint; readonly bought: bigint; readonly netted: boolean },
  { ids, accounts, valueDate }: ExchangeMoveContext,
  now: number,
): Posting[] {
  const { sellAmount: S, buyAmount: B, depositPlacedUsed } = exchange
  const book = (entry: Pick<Parameters<typeof exchangeEntry>[2], 'rule' | 'amounts' | 'variant' | 'occurrence'>) =>
    exchangeEntry(exchange, accounts, { ...entry, entryId: ids.next(), bookedAt: now, valueDate })
  const received = book({ rule: 'L33', amounts: { B } })
  if (netted) return [...book({ rule: 'L36', amounts: { S, B } }), ...received]
  // Where a deposit was placed with the partner, the partner already holds a part of the amount it takes.
  const placed = depositPlacedUsed < Sp ? depositPlacedUsed : Sp
  return [
    ...book({ rule: 'L31', amounts: { Sp: Sp - placed } }),
    ...book({ rule: 'L31', variant: 'from_deposit', occurrence: 2, amounts: { Sp: placed } }),
    ...book({ rule: 'L32', amounts: { Bp } }),
    ...received,
    ...book({ rule: 'L34', amounts: { S, Sp, B, Bp } }),
  ]
}

/** Fails the exchange: its booking is reversed, and a drawdown gives its amounts back to its contract. */
function refused(
  { exchange, contract, payment }: ExchangeState,
  { reason, context }: Extract<ExchangeCommand, { kind: 'refuse' }>,
  now: number,
): Made {
  const { ids, accounts, valueDate } = context
  const failure = {
    code: 'unknown' as const,
    message: 'The bank refused the exchange.',
    scheme: 'provider' as const,
    schemeCode: reason,
    retryable: true,
    at: timestamp(now),
  }
  const next: ExchangeRecord = {
    ...exchange,
    status: 'failed',
    version: exchange.version + 1,
    failure,
    exception: null,
    updatedAt: now,
  }
  const { sellAmount: S, fee: F, depositUsed: D } = exchange
  const back = (
    occurrence: number,
    rule: 'L30' | 'L43',
    amounts: { readonly S: bigint; readonly F?: bigint; readonly D?: bigint },
  ) =>
    exchangeEntry(exchange, accounts, {
      rule: 'L35',
      occurrence,
      amounts,
      reverses: { rule, entryId: bookingEntryId(exchange) },
      entryId: ids.next(),
      bookedAt: now,
      valueDate,
    })
  const effects: Made['effects'] = {
    exchangeChanges: [
      {
        id: exchange.id,
        version: exchange.version,
        status: 'failed',
        updatedAt: now,
        payment: paymentAfter(exchange, payment, 'refused', context, now),
        failure: JSON.stringify(failure),
        ...(exchange.exception === null ? {} : { exception: null }),
      },
    ],
    postings: D === 0n ? back(1, 'L30', { S, F }) : [...back(1, 'L43', { S, D }), ...back(2, 'L30', { S: 0n, F })],
    fxOrdersDone: [exchange.id],
    statusUpdates: [exchangeUpdate(next, exchange.status, failure.message, 'partner', now)],
    events: exchangeEvents(next, exchange.status, ids, now),
    ...endsException(exceptional(exchange), 'failed', now),
  }
  if (contract === null) return { exchange: next, effects }
  const given = givenBack(contract, exchange, context, now)
  return {
    exchange: next,
    contract: given.contract,
    effects: {
      ...together(effects, given.effects),
      exchangeChanges: [...effects.exchangeChanges, ...(given.effects.exchangeChanges ?? [])],
    },
  }
}

/** Gives the amounts of a failed drawdown back to its contract. */
function givenBack(
  parent: ExchangeRecord,
  { number, sellAmount, buyAmount, depositUsed, depositPlacedUsed }: ExchangeRecord,
  { ids, accounts, valueDate, sandbox }: ExchangeMoveContext,
  now: number,
): { readonly contract: ExchangeRecord; readonly effects: Effects } {
  const contract = asContract(parent)
  const moved = moveContract(contract, {
    kind: 'drawdown_failed',
    sides: { sell: sellAmount, buy: buyAmount },
    depositUsed,
    depositPlacedUsed,
    now,
  })
  if ('refused' in moved)
    throw new Error(`The contract ${contract.id} does not take back what was drawn: ${moved.refused.detail}`)
  const context = {
    ids,
    now,
    accounts: accounts.sell,
    by: 'partner' as const,
    valueDate,
    message: `Drawdown ${number} failed.`,
    sandbox,
  }
  return {
    contract: { ...contract, ...moved.change, version: contract.version + 1, updatedAt: now },
    effects: contractEffects(contract, moved, context),
  }
}

const DOUBTS = {
  timeout: { kind: 'provider_timeout', message: 'The bank did not answer; its answer is being looked for.' },
  unclear: { kind: 'provider_state_unknown', message: 'The bank cannot say yet what became of it.' },
} as const satisfies Record<string, { readonly kind: ExceptionKind; readonly message: string }>

/**
 * Moves the exchange to `exception`: nothing is sent again, and the order stays so that the partner is asked for the
 * outcome.
 */
function doubted(
  exchange: ExchangeRecord,
  { why, context: { ids } }: Extract<ExchangeCommand, { kind: 'doubt' }>,
  now: number,
): Made {
  const { kind, message } = DOUBTS[why]
  const exception = { kind, code: null, message, since: timestamp(now) }
  const next: ExchangeRecord = {
    ...exchange,
    status: 'exception',
    version: exchange.version + 1,
    exception,
    updatedAt: now,
  }
  return {
    exchange: next,
    effects: {
      exchangeChanges: [
        {
          id: exchange.id,
          version: exchange.version,
          status: 'exception',
          updatedAt: now,
          payment: exchange.paymentId === null ? 'none' : 'waits',
          exception: JSON.stringify(exception),
        },
      ],
      statusUpdates: [exchangeUpdate(next, exchange.status, message, 'system', now)],
      events: exchangeEvents(next, exchange.status, ids, now),
      ...opensException('exchange', exceptional(exchange), { id: ids.next(), kind, message, at: now }),
    },
  }
}

/** Describes the exchange for its exception; the amount is the amount sold. */
const exceptional = ({
  id,
  customerId,
  operatorId,
  shard,
  status,
  sellCurrency,
  sellAmount,
}: ExchangeRecord): Exceptional => ({
  id,
  customerId,
  operatorId,
  shard,
  status,
  currency: sellCurrency,
  amount: sellAmount,
})
