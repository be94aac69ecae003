/**
 * The opening of a contract from a quote. The contract waits for approval first where a policy requires it; otherwise
 * its deposit is paid at once where the request names a balance for it.
 *
 * The decision is made by the balance that pays the deposit, otherwise by the balance that would sell, because a
 * balance knows the approval policy of its customer.
 */
import { outcomeRecord } from '../decisions/outcome-record.ts'
import { MINUTE_MS } from '../base/clock.ts'
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
import type { Effects } from '../decisions/effects.ts'
import { idsFrom, type IdSource } from '../base/ids.ts'
import { together } from '../decisions/merge.ts'
import type { Problem } from '../base/problems.ts'
import { approvalOf, type ExchangeApproving } from './approval.ts'
import { expiredQuote } from './book-exchange.ts'
import { exchangeEvents, exchangeRow, exchangeUpdate } from './booking.ts'
import { asContract, begun, firstDeposit, moveContract, type Contract } from './contract.ts'
import { contractAfter, contractEffects, dueAtOf, type ContractContext } from './contract-effects.ts'
import { exchangeBody } from './exchange.ts'
import { DEPOSIT_MS } from './forward-terms.ts'
import { isExpired, type QuoteRecord } from './quote.ts'
import { formatRate } from './rate.ts'
import type { Priced } from './pricing.ts'

export interface OpenContract extends Recorded {
  readonly kind: 'open_contract'
  readonly customerId: string
  /** The contract as it would be without approval, before its deposit is paid. */
  readonly contract: Contract
  readonly quote: QuoteRecord
  /** Given when this balance pays the deposit at once; `places`: the partner wants to keep the deposit. */
  readonly pays: { readonly places: boolean } | null
  readonly sellBalance: { readonly id: string; readonly name: string }
  readonly approving: ExchangeApproving
  /** The seed of the ids of the rows (`idsFrom`). */
  readonly seed: string
  readonly context: Omit<ContractContext, 'now' | 'by' | 'message' | 'ids'>
  /**
   * A refusal found before the balance decided, or by a commit: the quote is already used, or the externalId is taken.
   */
  readonly refusal: Problem | null
}

export interface ContractOpened {
  readonly kind: 'contract_opened'
  readonly contract: Contract
  readonly body: string
}

/** Builds the contract of a quote as of the moment it is opened. `now` is epoch milliseconds. */
export function contractOf(
  contract: Omit<Contract, 'status' | 'deposit' | 'heldUntil' | 'remainingSell' | 'remainingBuy' | 'dueAt'>,
  quote: QuoteRecord,
  now: number,
  sandbox: boolean,
): Contract {
  const made = {
    ...contract,
    remainingSell: quote.sellAmount,
    remainingBuy: quote.buyAmount,
    dueAt: null,
    status: 'active' as const,
    deposit:
      quote.kind === 'forward' ? firstDeposit(quote.depositRequired, quote.sellCurrency, now + DEPOSIT_MS) : null,
    heldUntil: quote.holdMinutes === null ? null : now + quote.holdMinutes * MINUTE_MS,
  }
  const opened = asContract({ ...made, status: begun(made) })
  return { ...opened, dueAt: dueAtOf(opened, now, { sandbox }) }
}

/** Decides the opening. */
export function openContract(
  balance: BalanceState | null,
  command: OpenContract,
  now: number,
): BalanceDecision<ContractOpened> {
  const { contract, quote, pays, key } = command
  if (balance === null || balance.customerId !== command.customerId) {
    return invalid(balance, {
      field: pays === null ? '/sellBalanceId' : '/depositBalanceId',
      code: 'not_found',
      message: 'No such balance.',
    })
  }
  if (pays !== null && balance.currency !== contract.sellCurrency) {
    return invalid(balance, {
      field: '/depositBalanceId',
      code: 'currency_mismatch',
      message: `The deposit is in ${contract.sellCurrency}.`,
    })
  }
  const barred = moneyProblem(balance, 'move')
  if (barred !== null) return unrecorded(balance, barred)
  if (balance.status !== 'active') {
    return {
      ...invalid(balance, {
        field: pays === null ? '/sellBalanceId' : '/depositBalanceId',
        code: 'inactive',
        message: `The balance is ${balance.status}.`,
      }),
      refused: true,
    }
  }
  if (command.refusal !== null) return refuse(balance, command, now, command.refusal)
  if (isExpired(quote, now)) {
    return refuse(balance, command, now, expiredQuote(quote))
  }
  const ids = idsFrom(command.seed)
  const approval = approvalOf(
    { ...command.sellBalance, exchangePolicy: balance.exchangePolicy },
    contract,
    quote,
    command.approving,
    ids,
    now,
    pays === null ? null : { balanceId: balance.id, places: pays.places },
  )
  const opened: Contract =
    approval === null
      ? contract
      : {
          // Before the approval, no time limit of the contract runs.
          ...contract,
          status: 'pending_approval',
          approvalId: approval.approvalId,
          dueAt: null,
          heldUntil: null,
          deposit: contract.deposit === null ? null : { ...contract.deposit, dueAt: null },
        }
  const paid =
    approval === null && pays !== null && contract.status === 'awaiting_deposit'
      ? moveContract(contract, { kind: 'deposit', amount: null, places: pays.places })
      : null
  if (paid !== null && 'refused' in paid) throw new Error(paid.refused.detail)
  const taken = paid?.paid ?? 0n
  if (balance.available < taken)
    return { ...refuse(balance, command, now, insufficientFunds(balance, taken)), refused: true }
  // A contract that is opened with its deposit paid is written once: one row, one update, one event.
  const made: Contract = paid === null ? opened : { ...contractAfter(opened, paid, now), version: 1 }
  const written: Contract = paid === null ? made : { ...made, dueAt: dueAtOf(made, now, command.context) }
  const body = exchangeBody(written)
  const { postings = [] } =
    paid === null
      ? {}
      : contractEffects(opened, paid, {
          ...command.context,
          ids,
          by: 'member',
          message: '',
          payingBalanceId: balance.id,
          now,
        })
  const effects: Effects = together(
    {
      exchanges: [exchangeRow(written)],
      postings,
      statusUpdates: [exchangeUpdate(written, null, MESSAGES[written.status] ?? 'Contract made.', 'member', now)],
      events: exchangeEvents(written, null, ids, now),
    },
    approval === null ? {} : { approvals: approval.approvals, events: approval.events },
  )
  return {
    state: { ...balance, available: balance.available - taken },
    reply: { kind: 'contract_opened', contract: written, body },
    effects: {
      ...effects,
      ...outcomeRecord(key, 201, { type: 'exchange', id: contract.id }, body, now),
    },
  }
}

const MESSAGES: Partial<Record<Contract['status'], string>> = {
  pending_approval: 'Contract made, waits for approval.',
  awaiting_deposit: 'Contract made, its deposit is due.',
  active: 'Contract made.',
}

export interface ApprovedContext {
  readonly ids: IdSource
  readonly now: number
  readonly sandbox: boolean
  /** The minutes that a held rate is held, counted from now; null for a forward. */
  readonly holdMinutes: number | null
  /** Computes the deposit for a sell amount; 0 means none. */
  readonly depositOf: (sellAmount: bigint) => bigint
}

/** The payment of a contract's deposit from a balance that has the money, in the same transaction. */
export interface DepositPaid extends Pick<ContractContext, 'accounts' | 'valueDate'> {
  readonly balanceId: string
  readonly places: boolean
}

/** Returns the deposit that an approved contract needs, minor units of the currency sold; null when it needs none. */
export function depositOfApproved(
  contract: Contract,
  priced: Priced | null,
  depositOf: ApprovedContext['depositOf'],
): bigint | null {
  return priced === null || contract.deposit === null ? (contract.deposit?.required ?? null) : depositOf(priced.sell)
}

/** Starts an approved contract, at the present rate if its quote has expired, and with its deposit where it is paid. */
export function beginApproved(
  contract: Contract,
  priced: Priced | null,
  { ids, now, sandbox, holdMinutes, depositOf }: ApprovedContext,
  pays: DepositPaid | null,
): Effects {
  const { sell, buy } = priced ?? { sell: contract.sellAmount, buy: contract.buyAmount }
  const required = depositOfApproved(contract, priced, depositOf)
  const waiting: Contract = {
    ...contract,
    sellAmount: sell,
    buyAmount: buy,
    remainingSell: sell,
    remainingBuy: buy,
    version: contract.version + 1,
    updatedAt: now,
    deposit: contract.kind === 'forward' ? firstDeposit(required, contract.sellCurrency, now + DEPOSIT_MS) : null,
    heldUntil: holdMinutes === null ? null : now + holdMinutes * MINUTE_MS,
  }
  const started: Contract = { ...waiting, status: begun(waiting) }
  const paid = pays === null ? null : moveContract(started, { kind: 'deposit', amount: null, places: pays.places })
  if (paid !== null && 'refused' in paid) throw new Error(paid.refused.detail)
  // A contract that starts with its deposit paid is written once: one change, one update, one event.
  const next: Contract = paid === null ? started : { ...contractAfter(started, paid, now), version: started.version }
  const { postings = [] } =
    paid === null || pays === null
      ? {}
      : contractEffects(started, paid, {
          ...pays,
          ids,
          now,
          sandbox,
          by: 'member',
          message: '',
          payingBalanceId: pays.balanceId,
        })
  const { deposit } = next
  return {
    exchangeChanges: [
      {
        id: contract.id,
        version: contract.version,
        status: next.status,
        updatedAt: now,
        payment: 'none',
        remainingSell: sell,
        remainingBuy: buy,
        dueAt: dueAtOf(next, now, { sandbox }),
        ...(next.heldUntil === null ? {} : { heldUntil: next.heldUntil }),
        ...(deposit === null
          ? {}
          : {
              depositStatus: deposit.status,
              depositRequired: deposit.required,
              depositReceived: deposit.received,
              depositPlaced: deposit.placed,
              depositDueAt: deposit.dueAt,
            }),
        ...(priced === null
          ? {}
          : {
              sellAmount: sell,
              buyAmount: buy,
              rate: formatRate(priced.rate),
              partnerRate: formatRate(priced.partnerRate),
            }),
      },
    ],
    postings,
    statusUpdates: [
      exchangeUpdate(
        next,
        contract.status,
        priced === null ? 'Contract approved.' : `Contract approved, at a new rate of ${formatRate(priced.rate)}.`,
        'member',
        now,
      ),
    ],
    events: exchangeEvents(next, contract.status, ids, now),
  }
}
