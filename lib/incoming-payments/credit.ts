/**
 * The decision about a credit that the partner reports: it goes to its balance (L01), waits for a review (L05), or
 * waits for its owner in suspense (L03). The balance decides, because only the balance knows whether it is still open.
 */
import type { PartnerMessageType } from '../providers/messages.ts'
import { opensComplianceHold } from '../compliance/hold.ts'
import type { ScreeningHit } from '../compliance/screening.ts'
import { idsFrom, type IdSource } from '../base/ids.ts'
import type { BalanceState } from '../balances/balance.ts'
import type { CommandKey } from '../balances/decision.ts'
import type { Effects } from '../decisions/effects.ts'
import { together } from '../decisions/merge.ts'
import type { IncomingPaymentRow } from './effects.ts'
import { entry, type InternalAccounts } from '../ledger/entry.ts'
import type { RuleId } from '../ledger/postings.ts'
import type { ConnectionAccounts } from '../providers/cash-leg.ts'
import {
  cashOfCredit,
  feePostings,
  INCOMING_SOURCE,
  incomingEvent,
  incomingFee,
  incomingText,
  SUSPENSE_SOURCE,
} from './postings.ts'
import type { IncomingStatus, SuspenseReason } from './incoming-payment.ts'
import type { Rail } from '../rails/rails.ts'

/** The facts of a credit as the partner reports them. */
export interface CreditFacts {
  /** The id of the credit at the partner and here: the incoming payment has the same id, so it cannot exist twice. */
  readonly reference: string
  /** Minor units. */
  readonly amount: bigint
  readonly currency: string
  readonly payerName: string | null
  /** Masked. */
  readonly payerIdentifier: string | null
  readonly payerBankName: string | null
  readonly payerCountry: string | null
  readonly remittance: string | null
  readonly rail: Rail | null
  readonly endToEndId: string | null
  readonly uetr: string | null
  /** `YYYY-MM-DD` */
  readonly valueDate: string
}

export interface ReceiveCredit {
  readonly kind: 'receive_credit'
  /** The key under which the answer to the partner's message is recorded. */
  readonly key: CommandKey
  readonly event: { readonly id: string; readonly type: PartnerMessageType }
  readonly credit: CreditFacts
  /** The connection on which it arrived: where the balance is now, or was before it moved. */
  readonly connectionId: string
  /** The connection of the balance as it was read, where the credit has arrived at another one: its cash moves there. */
  readonly home?: ConnectionAccounts | undefined
  /** The result of screening the payer; null: no hit. */
  readonly hit: ScreeningHit | null
  /**
   * Accounts of the credit's connection and currency; with a hit, also the customer's account for money under review.
   */
  readonly accounts: InternalAccounts
  /** The seed of the ids of the rows (`idsFrom`). */
  readonly seed: string
}

export interface CreditReceived {
  readonly kind: 'credit_received'
  readonly status: IncomingStatus
}

/** The balance sits at another connection than the command says, so its cash cannot be moved there. Nothing was written. */
export interface BalanceElsewhere {
  readonly kind: 'balance_elsewhere'
  readonly connectionId: string
}

/** The owner of a credit, as far as it is known. */
export interface CreditOwner {
  readonly customerId: string | null
  readonly balanceId: string | null
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
}

/**
 * Decides one credit, as `receiveCredit`, when the command knows where the balance sits now: otherwise the credit is to be
 * brought again with the accounts of that connection. Money under review stays where it is until its release.
 */
export function takeCredit(balance: BalanceState | null, command: ReceiveCredit, now: number) {
  if (balance === null || command.hit !== null) return receiveCredit(balance, command, now)
  const { connectionId } = balance
  if (connectionId === command.connectionId || connectionId === command.home?.connectionId)
    return receiveCredit(balance, command, now)
  const reply = { kind: 'balance_elsewhere' as const, connectionId }
  return { state: balance, reply, effects: null, refused: true }
}

/** Decides one credit. When the balance refuses it, the decision is made again on freshly loaded state (I4). */
export function receiveCredit(balance: BalanceState | null, command: ReceiveCredit, now: number) {
  if (balance === null) throw new Error(`The credit ${command.credit.reference} names a balance that does not exist.`)
  const { credit, hit } = command
  const owner: CreditOwner = {
    customerId: balance.customerId,
    balanceId: balance.id,
    operatorId: balance.operatorId,
    connectionId: command.connectionId,
    shard: balance.shard,
  }
  const received = { ...command, ids: idsFrom(command.seed) }
  const refusal = refusalOf(balance, credit)
  if (refusal !== null) {
    const effects = suspend(owner, refusal, received, now)
    return {
      state: balance,
      reply: { kind: 'credit_received' as const, status: 'unallocated' as const },
      effects,
      refused: true,
    }
  }
  const home = balance.connectionId === command.connectionId ? undefined : command.home
  const fee = incomingFee(balance.fees, credit)
  const written = hit === null ? book(owner, fee, { ...received, home }, now) : review(owner, hit, received, now)
  const status: IncomingStatus = hit === null ? 'received' : 'under_review'
  const state = hit === null ? { ...balance, available: balance.available + credit.amount - fee } : balance
  return { state, reply: { kind: 'credit_received' as const, status }, effects: written }
}

function refusalOf({ status, currency }: BalanceState, credit: CreditFacts): SuspenseReason | null {
  if (status !== 'active' && status !== 'frozen') return 'balance_closed'
  return currency === credit.currency ? null : 'currency_mismatch'
}

type Received = Pick<ReceiveCredit, 'credit' | 'key' | 'event' | 'accounts' | 'home'> & { readonly ids: IdSource }

/** Credits the balance (L01) with its cash leg (L21), and charges the fee where there is one (L02). */
function book(owner: CreditOwner, fee: bigint, command: Received, now: number): Effects {
  const { home, accounts, ids } = command
  const written = credited(owner, fee, command, now)
  if (home === undefined) return written
  const at = { connectionId: owner.connectionId, accounts }
  return together(
    written,
    cashOfCredit({ ...owner, id: command.credit.reference, ...command.credit }, at, home, { ids, now }),
  )
}

function credited(owner: CreditOwner, fee: bigint, command: Received, now: number): Effects {
  const { credit, ids } = command
  const row = rowOf(owner, credit, { status: 'received', creditedAt: now }, now)
  const event = incomingEvent(row, {
    id: ids.next(),
    type: 'incoming_payment.received',
    status: 'received',
    previousStatus: null,
    at: now,
  })
  const written = posted('L01', owner, row, command, now)
  if (fee === 0n) return { ...written, incomingPayments: [row], events: [event] }
  const charged = feePostings(fee, row, {
    accounts: command.accounts,
    entryId: ids.next(),
    bookedAt: now,
    valueDate: row.valueDate,
  })
  return { ...written, postings: [...(written.postings ?? []), ...charged], incomingPayments: [row], events: [event] }
}

/** Puts the credit under review (L05); the customer does not see it. */
function review(
  owner: CreditOwner,
  { provider, findings, decides }: ScreeningHit,
  command: Received,
  now: number,
): Effects {
  const { credit, ids } = command
  const row = rowOf(owner, credit, { status: 'under_review' }, now)
  const hold = opensComplianceHold(
    {
      id: ids.next(),
      kind: 'inbound_screening',
      provider,
      subjectType: 'incoming_payment',
      subjectId: row.id,
      customerId: owner.customerId as string,
      operatorId: owner.operatorId,
      shard: owner.shard,
      currency: credit.currency,
      amount: credit.amount,
      counterparty: credit.payerName,
      findings,
      decides: decides === null ? null : { decision: decides.decision, at: now + decides.afterMs },
      createdAt: now,
    },
    ids.next(),
  )
  return { ...posted('L05', owner, row, command, now), incomingPayments: [row], ...hold }
}

/**
 * Makes the effects of a credit without an owner (L03, or L97 where only a statement reports it): a suspense item,
 * which belongs to the operator.
 */
export function suspend(
  known: CreditOwner,
  reason: SuspenseReason,
  command: Received,
  now: number,
  rule: 'L03' | 'L97' = 'L03',
): Effects {
  const owner = { ...known, customerId: null, balanceId: null }
  const row = rowOf(owner, command.credit, { status: 'unallocated', suspense: 'open', suspenseReason: reason }, now)
  return { ...posted(rule, owner, row, command, now), incomingPayments: [row] }
}

function rowOf(
  { customerId, balanceId, operatorId, connectionId, shard }: CreditOwner,
  credit: CreditFacts,
  state: { readonly status: IncomingStatus } & Partial<
    Pick<IncomingPaymentRow, 'creditedAt' | 'suspense' | 'suspenseReason'>
  >,
  now: number,
): IncomingPaymentRow {
  const {
    reference: id,
    amount,
    currency,
    payerName,
    payerIdentifier,
    payerBankName,
    payerCountry,
    remittance: reference,
    rail,
    endToEndId,
    uetr,
    valueDate,
  } = credit
  return {
    id,
    customerId,
    balanceId,
    operatorId,
    connectionId,
    shard,
    currency,
    amount,
    payerName,
    payerIdentifier,
    payerBankName,
    payerCountry,
    reference,
    rail,
    endToEndId,
    uetr,
    valueDate,
    creditedAt: null,
    suspense: null,
    suspenseReason: null,
    ...state,
    receivedAt: now,
  }
}

/** Makes the entry of a credit, and the rows that record the partner's message. */
function posted(
  rule: RuleId,
  { customerId, balanceId, operatorId, connectionId }: CreditOwner,
  row: IncomingPaymentRow,
  { key, event, accounts, ids }: Received,
  now: number,
): Effects {
  return {
    postings: entry({
      rule,
      amounts: { A: row.amount },
      currency: row.currency,
      accounts,
      balances: { from: balanceId ?? '', to: { id: balanceId ?? '', fence: 'own_turn' } },
      entryId: ids.next(),
      customerId: customerId ?? operatorId,
      source: { object: customerId === null ? SUSPENSE_SOURCE : INCOMING_SOURCE, id: row.id },
      description: incomingText(row),
      reference: row.reference,
      counterparty: row.payerName,
      bookedAt: now,
      valueDate: row.valueDate,
    }),
    providerEvents: [{ id: event.id, connectionId, type: event.type, objectId: row.id, code: null, receivedAt: now }],
    idempotency: {
      ...key,
      status: 200,
      resourceType: 'incoming_payment',
      resourceId: row.id,
      answer: null,
      createdAt: now,
    },
  }
}
