/**
 * The moves of an incoming debit: from which statuses each is made, where it leads, the posting that it makes and what
 * the bank is told. Pure.
 *
 * A debit is taken (L60) by the balance that pays it, which also decides refusals on its arrival and on its due date
 * (decide-debit.ts). All other moves are made under the lock of the debit's row: none of them needs funds.
 */
import type { Effects, OutboxEvent } from '../decisions/effects.ts'
import type { IdSource } from '../base/ids.ts'
import { timestamp } from '../base/clock.ts'
import { transitionProblem, type Problem } from '../base/problems.ts'
import { entry, type InternalAccounts } from '../ledger/entry.ts'
import type { Posting } from '../ledger/posting.ts'
import { withCash, type ConnectionAccounts } from '../providers/cash-leg.ts'
import type { IncomingDebitChange } from './effects.ts'
import type { DebitAnswer, IncomingDebitRecord, IncomingDebitStatus } from './incoming-debit.ts'
import { refundEnd, type RefundReason } from './schemes.ts'

interface MoveTerms {
  /** Null: the debit has just arrived. */
  readonly from: readonly (IncomingDebitStatus | null)[]
  readonly to: IncomingDebitStatus
  readonly rule: 'L60' | 'L61' | null
  /** What the bank is told. */
  readonly answer: DebitAnswer | null
}

/**
 * `confirm`: the customer has confirmed the mandate. `withdraw`: the creditor takes the debit back before its due date.
 * `return`: the bank gives the money back by itself. `refund`: the bank gives it back because the customer asks for it.
 */
export const INCOMING_DEBIT_MOVES = {
  announce: { from: [null], to: 'announced', rule: null, answer: null },
  await_confirmation: { from: [null], to: 'pending_confirmation', rule: null, answer: null },
  confirm: { from: ['pending_confirmation'], to: 'announced', rule: null, answer: null },
  debit: { from: [null, 'announced', 'pending_confirmation'], to: 'debited', rule: 'L60', answer: 'accept' },
  refuse: { from: [null, 'announced', 'pending_confirmation'], to: 'refused', rule: null, answer: 'refuse' },
  withdraw: { from: ['announced', 'pending_confirmation'], to: 'refused', rule: null, answer: null },
  return: { from: ['debited'], to: 'returned', rule: 'L61', answer: null },
  refund: { from: ['debited'], to: 'refunded', rule: 'L61', answer: 'refund' },
} as const satisfies Readonly<Record<string, MoveTerms>>
export type IncomingDebitMove = keyof typeof INCOMING_DEBIT_MOVES

/** Returns the refusal of a move; null when it is allowed. */
export function mayMove({ status }: Pick<IncomingDebitRecord, 'status'>, move: IncomingDebitMove): Problem | null {
  const { from }: MoveTerms = INCOMING_DEBIT_MOVES[move]
  return from.includes(status)
    ? null
    : transitionProblem(
        `The incoming debit is ${status}.`,
        status,
        from.filter((one) => one !== null),
      )
}

/** Returns the refusal of a refund; null when it may be asked for now. */
export function refundProblem(record: IncomingDebitRecord, reason: RefundReason, now: number): Problem | null {
  const problem = mayMove(record, 'refund')
  if (problem !== null) return problem
  const end = refundEnd(record.scheme, reason, record.debitedAt ?? record.receivedAt)
  if (end === null)
    return transitionProblem(`The scheme ${record.scheme} has no refund with the code ${reason}.`, record.status, [])
  return now < end
    ? null
    : transitionProblem(`The time for a refund with the code ${reason} ended on ${timestamp(end)}.`, record.status, [])
}

/** The input of a move beside its row. */
export interface DebitMoveContext {
  /** The accounts of the debit's connection and currency. */
  readonly accounts: InternalAccounts
  /** The connection of the balance, where that is another one: the cash follows the debit, or its refund. */
  readonly home?: ConnectionAccounts | undefined
  readonly ids: IdSource
  /** Epoch milliseconds. */
  readonly now: number
}

/** The fields of a debit that a move sets, beside its status. */
export type MovedFields = Omit<IncomingDebitChange, 'id' | 'version' | 'status' | 'updatedAt'>

export interface MovedDebit {
  readonly status: IncomingDebitStatus
  readonly fields: MovedFields
  readonly postings: readonly Posting[]
}

/** Computes what a move makes of a debit: its fields and its entry. */
export function moveDebit(
  record: Omit<IncomingDebitRecord, 'version' | 'updatedAt'>,
  move: IncomingDebitMove,
  given: Pick<MovedFields, 'dueAt' | 'refusal' | 'reasonCode'>,
  context: DebitMoveContext,
): MovedDebit {
  const { to, rule, answer: toBank }: MoveTerms = INCOMING_DEBIT_MOVES[move]
  const { now } = context
  // The bank knows of a debit that it has taken by itself.
  const answer = toBank === 'accept' && record.isBooked ? null : toBank
  const isOpen = to === 'announced' || to === 'pending_confirmation'
  const entryId = rule === null ? null : context.ids.next()
  return {
    status: to,
    fields: {
      ...(isOpen ? {} : { dueAt: null }),
      ...given,
      ...(rule === 'L60' ? { entryId, debitedAt: now } : {}),
      ...(rule === 'L61' ? { backEntryId: entryId } : {}),
      ...(isOpen || to === 'debited' ? {} : { endedAt: now }),
      ...(isOpen ? {} : { answer, answerDueAt: answer === null ? null : now }),
    },
    postings: rule === null ? [] : posting(record, rule, entryId as string, context),
  }
}

/** Makes the effects of a move of a debit that is stored. */
export function changedDebit(
  record: IncomingDebitRecord,
  move: IncomingDebitMove,
  given: Pick<MovedFields, 'dueAt' | 'refusal' | 'reasonCode'>,
  context: DebitMoveContext,
): Effects {
  const { status, fields, postings } = moveDebit(record, move, given, context)
  const { ids, now } = context
  return {
    postings,
    incomingDebitChanges: [{ ...fields, id: record.id, version: record.version, status, updatedAt: now }],
    events: [
      debitEvent(record, {
        id: ids.next(),
        type: 'incoming_debit.status_changed',
        status,
        previousStatus: record.status,
        createdAt: now,
      }),
    ],
  }
}

/** Adds the cash that follows the entry of a debit (L21). */
export function withCashOfDebit(
  effects: Effects,
  record: Pick<
    IncomingDebitRecord,
    'id' | 'customerId' | 'balanceId' | 'operatorId' | 'shard' | 'currency' | 'connectionId'
  >,
  { accounts, home, ids, now }: DebitMoveContext,
): Effects {
  const { id, customerId, balanceId, operatorId, shard, currency, connectionId } = record
  const at = { connectionId, accounts }
  const subject = { object: 'incoming_debit', id } as const
  const description = 'Cash of a direct debit'
  return withCash(
    effects,
    { subject, customerId, balanceId, operatorId, shard, currency, at, home, description },
    { ids, now },
  )
}

/** Makes an event about a debit. */
export function debitEvent(
  {
    id: objectId,
    customerId,
    operatorId,
    shard,
    amount,
    currency,
  }: Pick<IncomingDebitRecord, 'id' | 'customerId' | 'operatorId' | 'shard' | 'amount' | 'currency'>,
  event: Pick<OutboxEvent, 'id' | 'status' | 'previousStatus' | 'createdAt'> & {
    readonly type: 'incoming_debit.received' | 'incoming_debit.status_changed'
  },
): OutboxEvent {
  return { ...event, customerId, operatorId, shard, object: 'incoming_debit', objectId, amount, currency }
}

function posting(
  record: Omit<IncomingDebitRecord, 'version' | 'updatedAt'>,
  rule: 'L60' | 'L61',
  entryId: string,
  { accounts, now }: DebitMoveContext,
): readonly Posting[] {
  const { balanceId, creditorName } = record
  return entry({
    rule,
    amounts: { A: record.amount },
    currency: record.currency,
    accounts,
    balances: { from: balanceId, to: { id: balanceId, fence: 'open' } },
    entryId,
    customerId: record.customerId,
    source: { object: 'incoming_debit', id: record.id },
    description: rule === 'L60' ? `Direct debit by ${creditorName}` : `Direct debit by ${creditorName} given back`,
    reference: record.reference,
    counterparty: creditorName,
    bookedAt: now,
    valueDate: timestamp(now).slice(0, 10),
  })
}
