/**
 * Moves an exchange when its approval ends.
 *
 * The last approval carries the exchange out in the transaction of the decision. When its quote has expired by then,
 * the exchange gets the rate that holds now. When that rate is further from the approved rate than the operator allows,
 * or needs more money than is available, the exchange is rejected, with the reason. Money taken from the balance beyond
 * the hold raises the balance's version, so that no actor keeps a balance in its cache that is too high.
 */
import type { ApprovalRecord } from '../../lib/approvals/approval.ts'
import { dateIn } from '../../lib/base/clock.ts'
import {
  bookApproved,
  notCarriedOut,
  withdrawExchange,
  type ExchangePayload,
  type ExchangeWithdrawal,
  type NotCarriedOut,
} from '../../lib/exchange/approval.ts'
import { forItself } from '../../lib/exchange/bought-for.ts'
import { asContract, type Contract } from '../../lib/exchange/contract.ts'
import type { ExchangeRecord } from '../../lib/exchange/exchange.ts'
import { depositFor, partnerDate } from '../../lib/exchange/forward-terms.ts'
import { beginApproved, depositOfApproved, type DepositPaid } from '../../lib/exchange/open-contract.ts'
import type { Priced } from '../../lib/exchange/pricing.ts'
import { requote } from '../../lib/exchange/requote.ts'
import type { ExchangeTerms } from '../../lib/operators/exchange-terms.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import type { PaymentPart } from '../../lib/exchange/effects.ts'
import { failureOf } from '../../lib/rails/failure-codes.ts'
import type { ApprovalTx, Ending } from '../../storage/approvals/approvals.ts'
import { through, type TransactionClient } from '../../storage/db/transaction.ts'
import type { ExchangeFactsCache } from '../../storage/exchange/exchange-facts.ts'
import { readExchange } from '../../storage/exchange/exchanges.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import type { Problem } from '../../lib/base/problems.ts'
import { payingProblem } from '../../lib/balances/staff-hold.ts'
import type { MoneyUse } from '../../lib/customers/money-access.ts'
import { lockPaying, payingBalance } from '../../storage/balances/staff-holds.ts'
import { takeAvailable } from '../../storage/balances/balance-funds.ts'
import type { ApprovalSubject, SubjectOutcome } from '../approvals/approval-subject.ts'
import type { FxMarkets } from '../providers/fx.ts'
import { accountsOfContract } from './exchange-contracts.ts'

export interface ExchangeSubjectOptions {
  readonly desks: Pick<ExchangeFactsCache, 'within'>
  readonly market: Pick<FxMarkets, 'of'>
  readonly accounts: Pick<InternalAccountCache, 'within'>
  readonly sandbox: boolean
}

const EXPIRED = 'The exchange was not approved in time.'

/** Returns how an exchange ends whose approval ended without being given. */
function withdrawalOf({ status, reason }: Ending): ExchangeWithdrawal {
  if (status === 'rejected')
    return { status: 'rejected', message: reason ?? 'The exchange was rejected.', failure: null, by: 'member' }
  if (status === 'expired')
    return {
      status: 'cancelled',
      message: EXPIRED,
      failure: { ...failureOf('approval_expired'), message: EXPIRED },
      by: 'system',
    }
  return { status: 'cancelled', message: 'The exchange was cancelled.', failure: null, by: 'member' }
}

/** Exchanges as the subjects of approvals: spot exchanges, and contracts with later drawdowns. */
export function exchangeSubject(options: ExchangeSubjectOptions): ApprovalSubject {
  return {
    async blocked({ client }, { subjectId }, decision) {
      if (decision === 'rejected') return null
      const found = await readExchange(client, subjectId)
      return found === null ? null : await sellingProblem(client, found.exchange, 'move')
    },
    async ended(tx, approval, ending): Promise<SubjectOutcome> {
      const state = await readExchange(tx.client, approval.subjectId)
      // An exchange leaves `pending_approval` with its approval and in no other way, so this would be a bug.
      if (state?.exchange.status !== 'pending_approval')
        throw new Error(
          `The exchange ${approval.subjectId} is ${state?.exchange.status ?? 'gone'}, not pending_approval.`,
        )
      const { exchange } = state
      const payment = forItself(exchange)
      const effects =
        ending.status === 'approved'
          ? await carryOut(options, tx, approval, exchange, { booked: () => payment, rejected: () => payment })
          : withdrawExchange(exchange, withdrawalOf(ending), payment, tx.ids, tx.now)
      return { effects }
    },
  }
}

/**
 * Returns the problem of an approval that would carry out the exchange; null when it may be approved. Its balances stay
 * locked, so what holds here holds where the exchange is carried out.
 */
export async function sellingProblem(
  client: ApprovalTx['client'],
  { sellBalanceId, buyBalanceId }: Pick<ExchangeRecord, 'sellBalanceId' | 'buyBalanceId'>,
  use: MoneyUse,
): Promise<Problem | null> {
  const locked = await lockPaying(client, [sellBalanceId, buyBalanceId])
  return payingProblem(locked.get(sellBalanceId) ?? null, use)
}

/** Decides what happens to the payment that the exchange buys for, when the approval ends. */
export interface ApprovedPayment {
  booked(exchange: ExchangeRecord): PaymentPart
  rejected(withdrawal: ExchangeWithdrawal): Exclude<PaymentPart, 'waits'>
}

/**
 * Carries out an approved exchange: books it, or rejects it after all. Also for an exchange that a payment waits for.
 */
export async function carryOut(
  options: ExchangeSubjectOptions,
  tx: ApprovalTx,
  approval: ApprovalRecord,
  exchange: ExchangeRecord,
  payment: ApprovedPayment,
): Promise<Effects> {
  const { client, ids, now } = tx
  const desk = await options.desks.within(client).of(exchange.customerId)
  if (desk === null) throw new Error(`The customer ${exchange.customerId} of an exchange has vanished.`)
  const payload = JSON.parse(approval.payload as string) as ExchangePayload
  const { quoteExpiresAt, holdMinutes } = payload
  const priced = now < quoteExpiresAt ? null : await anew(options, client, exchange, { terms: desk.terms, now })
  if (priced === 'rate_moved') return reject(tx, exchange, 'rate_moved', payment)
  if (exchange.kind !== 'spot') {
    const { forwardDepositBps: depositBps } = desk.terms
    const { sandbox } = options
    const contract = asContract(exchange)
    const depositOf = (sellAmount: bigint) => depositFor(sellAmount, { depositBps, sandbox })
    const pays = await takeDeposit(options, tx, contract, payload, depositOfApproved(contract, priced, depositOf))
    return beginApproved(contract, priced, { ids, now, sandbox, holdMinutes, depositOf }, pays)
  }
  const beyond = priced === null ? 0n : priced.sell - exchange.sellAmount
  if (beyond > 0n && !(await takeAvailable(client, exchange.sellBalanceId, beyond)))
    return reject(tx, exchange, 'insufficient_funds', payment)
  const { operatorId, connectionId } = exchange
  const accounts = options.accounts.within(client)
  const sell = await accounts.accounts({ operatorId, connectionId, currency: exchange.sellCurrency })
  const buy = await accounts.accounts({ operatorId, connectionId, currency: exchange.buyCurrency })
  return bookApproved(exchange, priced, (booked) => payment.booked(booked), {
    ids,
    accounts: { sell, buy },
    valueDate: dateIn(now, 'UTC'),
    now,
  })
}

/**
 * Takes the deposit from the balance that the request named for it; null when it named none, or when the balance has too
 * little by now or is not active: then the deposit is due as that of any forward.
 */
async function takeDeposit(
  { accounts }: Pick<ExchangeSubjectOptions, 'accounts'>,
  { client, now }: ApprovalTx,
  contract: Contract,
  { deposit }: Pick<ExchangePayload, 'deposit'>,
  amount: bigint | null,
): Promise<DepositPaid | null> {
  if (deposit == null || amount === null || amount === 0n) return null
  if (!(await takeAvailable(client, deposit.balanceId, amount))) return null
  if ((await payingBalance(client, deposit.balanceId))?.status !== 'active') return null
  return {
    ...deposit,
    accounts: await accountsOfContract({ accounts: accounts.within(client) }, contract),
    valueDate: dateIn(now, 'UTC'),
  }
}

/** Prices the exchange at the rate that holds now; `rate_moved` where there is no rate or it moved too far. */
async function anew(
  { market }: Pick<ExchangeSubjectOptions, 'market'>,
  client: TransactionClient,
  exchange: ExchangeRecord,
  { terms, now }: { readonly terms: ExchangeTerms; readonly now: number },
): Promise<Priced | 'rate_moved'> {
  const found = await market.of(exchange.connectionId, through(client))
  const mid = typeof found === 'string' ? null : found.mid(exchange.sellCurrency, exchange.buyCurrency)
  if (mid === null) return 'rate_moved'
  const daysAhead =
    exchange.kind === 'forward'
      ? Math.max(0, Temporal.PlainDate.from(partnerDate(now)).until(exchange.settlementDate).days)
      : 0
  const priced = requote(exchange, { mid, daysAhead, terms })
  return typeof priced === 'string' ? 'rate_moved' : priced
}

function reject(
  { ids, now }: ApprovalTx,
  exchange: ExchangeRecord,
  why: NotCarriedOut,
  payment: ApprovedPayment,
): Effects {
  const withdrawal = notCarriedOut(why)
  return withdrawExchange(exchange, withdrawal, payment.rejected(withdrawal), ids, now)
}
