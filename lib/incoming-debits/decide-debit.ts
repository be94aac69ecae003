/**
 * The decisions about an incoming debit that the balance makes which pays it: on the debit's arrival, and on its due
 * date. The balance's state has the funds and the controls; the mandate travels with the command, and its version is a
 * fence, as that of the debit's row.
 *
 * A refusal is decided on freshly loaded state (I4): a remembered amount may be too low.
 */
import { DAY_MS } from '../base/clock.ts'
import { idsFrom } from '../base/ids.ts'
import type { BalanceState } from '../balances/balance.ts'
import { controlsRefusal } from '../balances/debit-controls.ts'
import type { CommandKey } from '../balances/decision.ts'
import { moneyProblem } from '../customers/money-access.ts'
import type { Effects } from '../decisions/effects.ts'
import { isOpenMandate } from '../direct-debits/mandate.ts'
import type { InternalAccounts } from '../ledger/entry.ts'
import type { ConnectionAccounts } from '../providers/cash-leg.ts'
import type { MandateScheme } from '../rails/debit-schemes.ts'
import type { IncomingDebitRow, PayConsent, PayerMandate, PayerMandateRow } from './effects.ts'
import type { IncomingDebitRecord, IncomingDebitStatus } from './incoming-debit.ts'
import { changedDebit, debitEvent, moveDebit, withCashOfDebit } from './incoming-debit-moves.ts'
import { REFUSALS, type RefusalReason } from './refusals.ts'
import { dueMoment, needsConfirmation } from './schemes.ts'

/** The customer has until the end of the due date to confirm the mandate of a debit. */
export const CONFIRM_MS = DAY_MS

/** The facts of a debit as the bank reports them. Amounts are minor units, days `YYYY-MM-DD`. */
export interface DebitFacts {
  /** The id of the debit at the bank and here. */
  readonly reference: string
  readonly scheme: MandateScheme
  readonly amount: bigint
  readonly currency: string
  readonly creditorName: string
  readonly creditorId: string | null
  readonly mandateReference: string | null
  readonly remittance: string | null
  readonly endToEndId: string | null
  readonly dueDate: string
}

export interface ReceiveDebit {
  readonly kind: 'receive_debit'
  /** The key under which the arrival of the debit is recorded: its reference. */
  readonly key: CommandKey
  readonly event: { readonly id: string; readonly type: 'debit.announced' | 'debit.booked' }
  readonly debit: DebitFacts
  readonly connectionId: string
  /** The mandate that the debit names, as it was read; null: it names none. */
  readonly mandate: PayerMandate | null
  /** What the customer has agreed to with the creditor, as it was read; null: nothing that the service knows. */
  readonly consent: PayConsent | null
  readonly accounts: InternalAccounts
  /** The connection of the balance as it was read, where that is another one. */
  readonly home?: ConnectionAccounts | undefined
  /** The seed of the ids of the rows (`idsFrom`). */
  readonly seed: string
}

export interface TakeDebit {
  readonly kind: 'take_debit'
  /** The debit as it was read, with its mandate. */
  readonly debit: IncomingDebitRecord
  readonly mandate: PayerMandate | null
  readonly consent: PayConsent | null
  readonly accounts: InternalAccounts
  readonly home?: ConnectionAccounts | undefined
  readonly seed: string
}

export interface DebitDecided {
  readonly kind: 'debit_decided'
  readonly status: IncomingDebitStatus
}

interface DebitDecision {
  readonly state: BalanceState
  readonly reply: DebitDecided
  readonly effects: Effects | null
  readonly refused?: boolean
}

type Judgement =
  | { readonly move: 'announce' | 'debit' }
  | { readonly move: 'await_confirmation' }
  | { readonly move: 'refuse'; readonly refusal: RefusalReason }

/** The mandate that a debit names, and what the customer has agreed to. */
type Agreed = Pick<ReceiveDebit, 'mandate' | 'consent'>

type JudgedDebit = Pick<
  IncomingDebitRow,
  'scheme' | 'amount' | 'currency' | 'creditorId' | 'mandateReference' | 'dueDate'
>

/** Decides a debit that has arrived. */
export function receiveDebit(balance: BalanceState | null, command: ReceiveDebit, now: number): DebitDecision {
  if (balance === null) throw new Error(`The debit ${command.debit.reference} names a balance that does not exist.`)
  const { key, event, mandate, consent, accounts, home } = command
  const ids = idsFrom(command.seed)
  const isBooked = event.type === 'debit.booked'
  const dueAt = isBooked ? now : dueMoment(command.debit.scheme, command.debit.dueDate)
  const judged = judge(balance, command.debit, { mandate, consent, isDue: dueAt <= now })
  const arrived = rowOf(balance, command, { isBooked, now })
  const context = { accounts, home, ids, now }
  const moved = moveDebit(arrived, judged.move, givenBy(judged, dueAt), context)
  const row: IncomingDebitRow = { ...arrived, ...moved.fields, status: moved.status }
  const told = { status: moved.status, previousStatus: null, createdAt: now }
  return {
    ...decided(balance, moved.status, row.amount),
    effects: {
      ...withCashOfDebit({ postings: moved.postings }, row, context),
      incomingDebits: [row],
      ...mandateAfter(command, row, now),
      events: [
        debitEvent(row, { ...told, id: ids.next(), type: 'incoming_debit.received' }),
        // Receivers of changes alone learn of each debit that is taken or refused.
        ...(row.dueAt === null
          ? [debitEvent(row, { ...told, id: ids.next(), type: 'incoming_debit.status_changed' })]
          : []),
      ],
      providerEvents: [
        {
          id: event.id,
          connectionId: command.connectionId,
          type: event.type,
          objectId: row.id,
          code: null,
          receivedAt: now,
        },
      ],
      idempotency: {
        ...key,
        status: 200,
        resourceType: 'incoming_debit',
        resourceId: row.id,
        answer: null,
        createdAt: now,
      },
    },
  }
}

/** Decides a debit that is due. One that is not due yet, or was decided before, stays as it is. */
export function takeDebit(balance: BalanceState | null, command: TakeDebit, now: number): DebitDecision {
  const { debit, mandate, consent, accounts, home, seed } = command
  if (balance === null) throw new Error(`The debit ${debit.id} is of a balance that does not exist.`)
  const isOpen = debit.status === 'announced' || debit.status === 'pending_confirmation'
  if (!isOpen || debit.dueAt === null || debit.dueAt > now)
    return { state: balance, reply: { kind: 'debit_decided', status: debit.status }, effects: null }
  const judged = judge(balance, debit, { mandate, consent, isDue: true })
  const final: Judgement =
    judged.move === 'await_confirmation' ? { move: 'refuse', refusal: 'mandate_unconfirmed' } : judged
  const context = { accounts, home, ids: idsFrom(seed), now }
  const moved = changedDebit(debit, final.move, givenBy(final, debit.dueAt), context)
  const effects = withCashOfDebit(moved, debit, context)
  const status = final.move === 'debit' ? 'debited' : 'refused'
  return {
    ...decided(balance, status, debit.amount),
    effects: { ...effects, ...(final.move === 'debit' ? mandateAfter(command, { ...debit, status }, now) : {}) },
  }
}

/** Makes the state and the reply of a decision. */
function decided(balance: BalanceState, status: IncomingDebitStatus, amount: bigint): Omit<DebitDecision, 'effects'> {
  return {
    state: status === 'debited' ? { ...balance, available: balance.available - amount } : balance,
    reply: { kind: 'debit_decided', status },
    ...(status === 'refused' ? { refused: true } : {}),
  }
}

/** Judges a debit: what the balance, its controls and the mandate make of it now. */
function judge(
  balance: BalanceState,
  debit: JudgedDebit,
  { mandate, consent, isDue }: Agreed & { readonly isDue: boolean },
): Judgement {
  const refusal = standingRefusal(balance, debit, { mandate, consent })
  if (refusal !== null) return { move: 'refuse', refusal }
  const isConfirmed = mandate?.status === 'confirmed' || consent?.status === 'active'
  if (needsConfirmation(debit.scheme) && !isConfirmed) return { move: 'await_confirmation' }
  if (!isDue) return { move: 'announce' }
  if (balance.status === 'frozen') return { move: 'refuse', refusal: 'balance_frozen' }
  if (moneyProblem(balance, 'pay') !== null) return { move: 'refuse', refusal: 'customer_restricted' }
  return balance.available < debit.amount ? { move: 'refuse', refusal: 'insufficient_funds' } : { move: 'debit' }
}

/** Returns why a debit is refused whatever its due date; null when nothing speaks against it. */
function standingRefusal(
  balance: BalanceState,
  debit: JudgedDebit,
  { mandate, consent }: Agreed,
): RefusalReason | null {
  if (balance.status !== 'active' && balance.status !== 'frozen') return 'balance_closed'
  if (balance.currency !== debit.currency) return 'currency_differs'
  if (mandate === null) return 'no_mandate'
  if (mandate.status === 'cancelled') return 'mandate_ended'
  if (consent !== null) {
    if (consent.status === 'suspended') return 'mandate_suspended'
    if (!isOpenMandate(consent)) return 'mandate_ended'
    if (consent.amountLimit !== null && debit.amount > consent.amountLimit) return 'amount_above_mandate'
  }
  return controlsRefusal(balance.debitControls, debit, mandate.lastDueDate)
}

function givenBy(judged: Judgement, dueAt: number) {
  switch (judged.move) {
    case 'announce':
      return { dueAt }
    case 'await_confirmation':
      return { dueAt: dueAt + CONFIRM_MS }
    case 'refuse':
      return { refusal: judged.refusal, reasonCode: REFUSALS[judged.refusal].code }
    case 'debit':
      return {}
    default:
      return judged satisfies never
  }
}

/** Makes the mandate's row after a debit: a debit that is taken moves its last due date, and the first one makes it. */
function mandateAfter(
  { mandate, consent }: Agreed,
  { status, dueDate }: Pick<IncomingDebitRow, 'status' | 'dueDate'>,
  now: number,
): Pick<Effects, 'payerMandates'> {
  if (mandate === null) return {}
  const after: PayerMandateRow = {
    ...mandate,
    // Debits need not be taken in the order of their due dates.
    lastDueDate: status === 'debited' && dueDate > (mandate.lastDueDate ?? '') ? dueDate : mandate.lastDueDate,
    // A decision to debit rests on the customer's agreement, too.
    consent: status === 'debited' ? consent : null,
    updatedAt: now,
  }
  return status === 'debited' || mandate.version === 0 ? { payerMandates: [after] } : {}
}

/** Makes the row of a debit as it arrives; its status is that of the move that follows. */
function rowOf(
  balance: BalanceState,
  { debit, connectionId, mandate }: ReceiveDebit,
  { isBooked, now }: { readonly isBooked: boolean; readonly now: number },
): IncomingDebitRow {
  const { reference: id, remittance: reference, ...facts } = debit
  return {
    ...facts,
    id,
    reference,
    customerId: balance.customerId,
    balanceId: balance.id,
    operatorId: balance.operatorId,
    connectionId,
    shard: balance.shard,
    status: 'announced',
    mandateId: mandate?.id ?? null,
    isBooked,
    dueAt: null,
    refusal: null,
    reasonCode: null,
    entryId: null,
    backEntryId: null,
    debitedAt: null,
    endedAt: null,
    answer: null,
    answerDueAt: null,
    receivedAt: now,
  }
}
