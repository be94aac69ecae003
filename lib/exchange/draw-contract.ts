/**
 * A drawdown, decided by the balance that sells: in one commit the money leaves the balance, the drawdown is written as
 * an exchange of its own, and the contract's remaining amounts fall. The contract's version is the fence.
 */
import { outcomeRecord } from '../decisions/outcome-record.ts'
import { idsFrom } from '../base/ids.ts'
import type { BalanceState } from '../balances/balance.ts'
import { moneyProblem } from '../customers/money-access.ts'
import {
  insufficientFunds,
  invalid,
  refuse,
  unrecorded,
  type BalanceDecision,
  type Recorded,
} from '../balances/decision.ts'
import { together } from '../decisions/merge.ts'
import type { Problem } from '../base/problems.ts'
import { bookingOf, exchangeEvents, exchangeRow, exchangeUpdate, neededFor, type BookingContext } from './booking.ts'
import { contractAt, moveContract, type Contract, type ContractMove } from './contract.ts'
import { contractAfter, contractEffects, type ContractContext } from './contract-effects.ts'
import { exchangeBody, NEW_EXCHANGE, type ExchangeRecord } from './exchange.ts'

/** The members of a drawdown that are known before the decision. */
export type DrawdownOrder = Pick<
  ExchangeRecord,
  | 'id'
  | 'number'
  | 'externalId'
  | 'sellBalanceId'
  | 'buyBalanceId'
  | 'reference'
  | 'createdBy'
  | 'createdVia'
  | 'metadata'
>

export interface DrawContract extends Recorded {
  readonly kind: 'draw_contract'
  readonly customerId: string
  readonly contract: Contract
  readonly move: Extract<ContractMove, { kind: 'draw' }>
  readonly order: DrawdownOrder
  /** The seed of the ids of the rows (`idsFrom`). */
  readonly seed: string
  readonly context: Omit<ContractContext, 'now' | 'message' | 'ids'> &
    Pick<BookingContext, 'valueDate'> & { readonly exchangeAccounts: BookingContext['accounts'] }
  /** A refusal found before the balance decided, or by a commit. */
  readonly refusal: Problem | null
  /** Whether a commit found that the buying balance accepts no money. */
  readonly creditRefused: boolean
}

export interface ContractDrawn {
  readonly kind: 'contract_drawn'
  readonly drawdown: ExchangeRecord
  readonly contract: Contract
  readonly body: string
}

/** Decides the drawdown. */
export function drawContract(
  balance: BalanceState | null,
  command: DrawContract,
  now: number,
): BalanceDecision<ContractDrawn> {
  const { contract, move, key, context } = command
  if (balance === null || balance.customerId !== command.customerId)
    return invalid(balance, { field: '/sellBalanceId', code: 'not_found', message: 'No such balance.' })
  if (balance.currency !== contract.sellCurrency) {
    return invalid(balance, {
      field: '/sellBalanceId',
      code: 'currency_mismatch',
      message: `The contract sells ${contract.sellCurrency}.`,
    })
  }
  const barred = moneyProblem(balance, 'move')
  if (barred !== null) return unrecorded(balance, barred)
  if (balance.status !== 'active')
    return {
      ...invalid(balance, { field: '/sellBalanceId', code: 'inactive', message: `The balance is ${balance.status}.` }),
      refused: true,
    }
  if (command.creditRefused)
    return invalid(balance, { field: '/buyBalanceId', code: 'inactive', message: 'The balance does not accept money.' })
  if (command.refusal !== null) return refuse(balance, command, now, command.refusal)
  const moved = moveContract(contractAt(contract, now), move)
  if ('refused' in moved) return refuse(balance, command, now, moved.refused)
  const drawdown = drawdownOf(contract, moved.drawn!, command, now)
  const needed = neededFor(drawdown)
  if (balance.available < needed)
    return { ...refuse(balance, command, now, insufficientFunds(balance, needed)), refused: true }
  const after = contractAfter(contract, moved, now)
  const body = exchangeBody(drawdown)
  const ids = idsFrom(command.seed)
  const effects = together(
    contractEffects(contract, moved, { ...context, ids, message: `Drawdown ${drawdown.number} made.`, now }),
    {
      exchanges: [exchangeRow(drawdown)],
      ...bookingOf(drawdown, {
        ids,
        accounts: context.exchangeAccounts,
        valueDate: context.valueDate,
        now,
      }),
      statusUpdates: [exchangeUpdate(drawdown, null, 'Drawdown made.', context.by, now)],
      events: exchangeEvents(drawdown, null, ids, now),
      credits: [{ balanceId: drawdown.buyBalanceId, currency: drawdown.buyCurrency }],
    },
  )
  return {
    // Money that goes back from the deposit is not added: the remembered amount may be too low, never too high (I4).
    state: { ...balance, available: balance.available - needed },
    reply: { kind: 'contract_drawn', drawdown, contract: after, body },
    effects: {
      ...effects,
      ...outcomeRecord(key, 201, { type: 'exchange', id: drawdown.id }, body, now),
    },
  }
}

/** Builds the drawdown as an exchange: of the contract's pair, at its rate, without a fee. */
function drawdownOf(
  contract: Contract,
  {
    sides,
    depositUsed,
    depositPlacedUsed,
  }: {
    readonly sides: { readonly sell: bigint; readonly buy: bigint }
    readonly depositUsed: bigint
    readonly depositPlacedUsed: bigint
  },
  { order, move, context }: DrawContract,
  now: number,
): ExchangeRecord {
  const { customerId, operatorId, connectionId, shard, sellCurrency, buyCurrency, rate, partnerRate } = contract
  return {
    ...NEW_EXCHANGE,
    ...order,
    customerId,
    operatorId,
    connectionId,
    shard,
    sellCurrency,
    buyCurrency,
    rate,
    partnerRate,
    kind: 'drawdown',
    status: 'processing',
    quoteId: null,
    parentExchangeId: contract.id,
    sellAmount: sides.sell,
    buyAmount: sides.buy,
    fixedSide: move.side,
    fee: 0n,
    tradeDate: context.valueDate,
    settlementDate: context.valueDate,
    depositUsed,
    depositPlacedUsed,
    createdAt: now,
    updatedAt: now,
  }
}
