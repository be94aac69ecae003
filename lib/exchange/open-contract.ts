/**
 * Contracts as they begin: opened from a quote (F1, F2, H1), waiting for people first where they have to approve (X1), with the
 * deposit paid in the same moment where a balance is named for it.
 *
 * The balance that pays the deposit decides, otherwise the one that would sell: it knows what its customer's people have to approve.
 */
import type { BalanceState } from '../balances/balance.ts'
import { insufficientFunds, invalid, refuse, type BalanceDecision, type Recorded } from '../balances/decision.ts'
import type { Effects } from '../decisions/effects.ts'
import type { IdSource } from '../base/ids.ts'
import { together } from '../decisions/merge.ts'
import type { Problem } from '../base/problems.ts'
import { approvalOf, type ExchangeApproving } from './approval.ts'
import { expiredQuote } from './book-exchange.ts'
import { exchangeEvents, exchangeUpdate } from './booking.ts'
import { asContract, begun, firstDeposit, moveContract, type Contract } from './contract.ts'
import { contractAfter, contractEffects, dueAtOf, type ContractContext } from './contract-effects.ts'
import { exchangeRow } from './exchange.ts'
import { DEPOSIT_MS } from './forward-terms.ts'
import { isExpired, type QuoteRecord } from './quote.ts'
import { formatRate } from './rate.ts'
import type { Priced } from './pricing.ts'

export interface OpenContract extends Recorded {
  readonly kind: 'open_contract'
  readonly customerId: string
  /** As it would be without anybody's approval, its deposit not paid. */
  readonly contract: Contract
  readonly quote: QuoteRecord
  /** Whether this balance pays the deposit at once, and whether the partner keeps it. */
  readonly pays: { readonly places: boolean } | null
  readonly sellBalance: { readonly id: string; readonly name: string }
  readonly approving: ExchangeApproving
  readonly context: Omit<ContractContext, 'now' | 'by' | 'message'>
  /** A no that was found before the balance was asked, or by a commit: the quote is used, the externalId taken. */
  readonly refusal: Problem | null
  /** What is answered, and kept with the key. */
  readonly answer: (contract: Contract) => string
}

export interface ContractOpened {
  readonly kind: 'contract_opened'
  readonly contract: Contract
  readonly body: string
}

/** The contract of a quote from the moment it is taken. `now` is epoch milliseconds. */
export function contractOf(contract: Omit<Contract, 'status' | 'deposit' | 'heldUntil' | 'remainingSell' | 'remainingBuy' | 'dueAt'>, quote: QuoteRecord, now: number, sandbox: boolean): Contract {
  const made = {
    ...contract, remainingSell: quote.sellAmount, remainingBuy: quote.buyAmount, dueAt: null, status: 'active' as const,
    deposit: quote.kind === 'forward' ? firstDeposit(quote.depositRequired, quote.sellCurrency, now + DEPOSIT_MS) : null,
    heldUntil: quote.holdMinutes === null ? null : now + quote.holdMinutes * 60_000,
  }
  const opened = asContract({ ...made, status: begun(made) })
  return { ...opened, dueAt: dueAtOf(opened, now, { sandbox }) }
}

/** Decides it. */
export function openContract(balance: BalanceState | null, command: OpenContract, now: number): BalanceDecision<ContractOpened> {
  const { contract, quote, pays, key } = command
  if (balance === null || balance.customerId !== command.customerId) {
    return invalid(balance, { field: pays === null ? '/sellBalanceId' : '/depositBalanceId', code: 'not_found', message: 'No such balance.' })
  }
  if (pays !== null && balance.currency !== contract.sellCurrency) {
    return invalid(balance, { field: '/depositBalanceId', code: 'currency_mismatch', message: `The deposit is in ${contract.sellCurrency}.` })
  }
  if (balance.status !== 'active') {
    return { ...invalid(balance, { field: pays === null ? '/sellBalanceId' : '/depositBalanceId', code: 'inactive', message: `The balance is ${balance.status}.` }), refused: true }
  }
  if (command.refusal !== null) return refuse(balance, command, now, command.refusal)
  if (isExpired(quote, now)) {
    return refuse(balance, command, now, expiredQuote(quote))
  }
  const { ids } = command.approving
  const approval = approvalOf({ ...command.sellBalance, exchangePolicy: balance.exchangePolicy }, contract, quote, command.approving, now)
  const opened: Contract = approval === null ? contract : {
    // Nothing of it runs before people have said yes.
    ...contract, status: 'pending_approval', approvalId: approval.approvalId, dueAt: null, heldUntil: null, deposit: contract.deposit === null ? null : { ...contract.deposit, dueAt: null },
  }
  const paid = approval === null && pays !== null && contract.status === 'awaiting_deposit' ? moveContract(contract, { kind: 'deposit', amount: null, places: pays.places }) : null
  if (paid !== null && 'refused' in paid) throw new Error(paid.refused.detail)
  const taken = paid?.paid ?? 0n
  if (balance.available < taken) return { ...refuse(balance, command, now, insufficientFunds(balance, taken)), refused: true }
  // A contract that begins with its deposit was never without it: one row, one update, one event.
  const made: Contract = paid === null ? opened : { ...contractAfter(opened, paid, now), version: 1 }
  const written: Contract = paid === null ? made : { ...made, dueAt: dueAtOf(made, now, command.context) }
  const body = command.answer(written)
  const { postings = [] } = paid === null ? {} : contractEffects(opened, paid, { ...command.context, by: 'member', message: '', payingBalanceId: balance.id, now })
  const effects: Effects = together({
    exchanges: [exchangeRow(written)], postings,
    statusUpdates: [exchangeUpdate(written, null, MESSAGES[written.status] ?? 'Contract made.', 'member', now)],
    events: exchangeEvents(written, null, ids, now),
  }, approval === null ? {} : { approvals: approval.approvals, events: approval.events })
  return {
    state: { ...balance, available: balance.available - taken },
    reply: { kind: 'contract_opened', contract: written, body },
    effects: { ...effects, ...(key === null ? {} : { idempotency: { ...key, status: 201, resourceId: contract.id, answer: body, createdAt: now } }) },
  }
}

const MESSAGES: Partial<Record<Contract['status'], string>> = {
  pending_approval: 'Contract made, waits for approval.', awaiting_deposit: 'Contract made, its deposit is due.', active: 'Contract made.',
}

export interface ApprovedContext {
  readonly ids: IdSource
  readonly now: number
  readonly sandbox: boolean
  /** Of a held rate: how long it is held, from now on. */
  readonly holdMinutes: number | null
  /** What is asked for as a deposit of this much; 0: none. */
  readonly depositOf: (sellAmount: bigint) => bigint
}

/** What a contract becomes when everybody has approved it (F1, F2, H1), at the rate that holds now where its quote has run out. */
export function beginApproved(contract: Contract, priced: Priced | null, { ids, now, sandbox, holdMinutes, depositOf }: ApprovedContext): Effects {
  const { sell, buy } = priced ?? { sell: contract.sellAmount, buy: contract.buyAmount }
  const required = priced === null || contract.deposit === null ? contract.deposit?.required ?? null : depositOf(sell)
  const waiting: Contract = {
    ...contract, sellAmount: sell, buyAmount: buy, remainingSell: sell, remainingBuy: buy, version: contract.version + 1, updatedAt: now,
    deposit: contract.kind === 'forward' ? firstDeposit(required, contract.sellCurrency, now + DEPOSIT_MS) : null,
    heldUntil: holdMinutes === null ? null : now + holdMinutes * 60_000,
  }
  const next: Contract = { ...waiting, status: begun(waiting) }
  const { deposit } = next
  return {
    exchangeChanges: [{
      id: contract.id, version: contract.version, status: next.status, updatedAt: now, payment: 'none', remainingSell: sell, remainingBuy: buy, dueAt: dueAtOf(next, now, { sandbox }),
      ...(next.heldUntil === null ? {} : { heldUntil: next.heldUntil }),
      ...(deposit === null ? {} : { depositStatus: deposit.status, depositRequired: deposit.required, depositDueAt: deposit.dueAt }),
      ...(priced === null ? {} : { sellAmount: sell, buyAmount: buy, rate: formatRate(priced.rate), partnerRate: formatRate(priced.partnerRate) }),
    }],
    statusUpdates: [exchangeUpdate(next, contract.status, priced === null ? 'Contract approved.' : `Contract approved, at a new rate of ${formatRate(priced.rate)}.`, 'member', now)],
    events: exchangeEvents(next, contract.status, ids, now),
  }
}
