/**
 * The moves of an incoming payment after its arrival: allocated to its owner, released or sent back after a review, or
 * recalled by its payer. Each move returns its effects on the ledger and its change of the row, which the caller has
 * locked. `mayMove` checks whether a move is allowed.
 */
import { timestamp } from '../base/clock.ts'
import { opensComplianceHold } from '../compliance/hold.ts'
import type { IdSource } from '../base/ids.ts'
import type { Effects, HoldRow } from '../decisions/effects.ts'
import { together } from '../decisions/merge.ts'
import { entry, type InternalAccounts } from '../ledger/entry.ts'
import type { RuleId } from '../ledger/postings.ts'
import type { Problem } from '../base/problems.ts'
import type { IncomingChange, IncomingRecord, IncomingStatus, IncomingRecallReason } from './incoming-payment.ts'
import type { ConnectionAccounts } from '../providers/cash-leg.ts'
import { cashOfCredit, feePostings, INCOMING_SOURCE, incomingEvent, incomingText, SUSPENSE_SOURCE } from './postings.ts'

export interface IncomingMove {
  readonly effects: Effects
  readonly change: IncomingChange
}

/** The input of a move beside its row. */
export interface IncomingMoveContext {
  /** The accounts of the connection where the money arrived. */
  readonly accounts: InternalAccounts
  /** The connection of the balance, where that is another one. The caller has locked the balance. */
  readonly home?: ConnectionAccounts | undefined
  readonly ids: IdSource
  /** Epoch milliseconds. */
  readonly now: number
}

const FROM = {
  allocate: ['unallocated'],
  give_back: ['unallocated'],
  release: ['under_review'],
  block: ['under_review'],
  recall: ['received'],
} as const satisfies Record<string, readonly IncomingStatus[]>
export type IncomingMoveName = keyof typeof FROM

/** Returns the refusal of a move; null when it is allowed. */
export function mayMove({ status }: Pick<IncomingRecord, 'status'>, move: IncomingMoveName): Problem | null {
  if ((FROM[move] as readonly IncomingStatus[]).includes(status)) return null
  return {
    slug: 'invalid-transition',
    detail: `The incoming payment is ${status}.`,
    extra: { currentStatus: status, allowed: FROM[move] },
  }
}

/** The owner of unallocated money, as staff decided. */
export interface Allocation {
  readonly customerId: string
  readonly balanceId: string
  readonly shard: number
  readonly by: string
  readonly reason: string | null
  /** The fee for the incoming payment, minor units. */
  readonly fee: bigint
}

/** Allocates money whose owner was not known (L04): credits its balance, to whose connection the cash moves (L21). */
export function allocate(
  record: IncomingRecord,
  { customerId, balanceId, shard, by, reason, fee }: Allocation,
  context: IncomingMoveContext,
): IncomingMove {
  const owned = { ...record, customerId, balanceId, shard }
  return {
    effects: together(
      {
        ...charged(fee, owned, posting('L04', owned, record.amount, context), context),
        ...credited(owned, context),
      },
      cashOf(owned, 'in', record.amount, context),
    ),
    change: {
      status: 'received',
      customerId,
      balanceId,
      shard,
      creditedAt: context.now,
      suspense: 'allocated',
      decidedBy: by,
      decidedAt: context.now,
      decisionReason: reason,
    },
  }
}

/** Sends money back whose owner was not found (L08). */
export function giveBack(
  record: IncomingRecord,
  { by, reason, reasonCode }: { readonly by: string; readonly reason: string; readonly reasonCode: string },
  context: IncomingMoveContext,
): IncomingMove {
  return {
    effects: posting('L08', record, record.amount, context),
    change: {
      ...goesBack(record.amount, reasonCode),
      suspense: 'returned',
      decidedBy: by,
      decidedAt: context.now,
      decisionReason: reason,
    },
  }
}

/**
 * Releases the money from review (L06) and credits the balance, to whose connection the cash moves (L21). `fee` is
 * charged for it.
 */
export function release(record: IncomingRecord, fee: bigint, context: IncomingMoveContext): IncomingMove {
  return {
    effects: together(
      {
        ...charged(fee, record, posting('L06', record, record.amount, context), context),
        ...credited(record, context),
      },
      cashOf(record, 'in', record.amount, context),
    ),
    change: { status: 'received', creditedAt: context.now },
  }
}

/** The code for “regulatory reason”: the bank gives no further reason. */
const BLOCKED_REASON = 'RR04'

/** Sends the money back after a review (L07); the customer never sees it. */
export function block(record: IncomingRecord, context: IncomingMoveContext): IncomingMove {
  return { effects: posting('L07', record, record.amount, context), change: goesBack(record.amount, BLOCKED_REASON) }
}

// ── Recalls
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Makes the hold on recalled money. The caller places it only where the balance covers it. */
export function recallHold(
  record: IncomingRecord,
  amount: bigint,
  { ids, now }: Pick<IncomingMoveContext, 'ids' | 'now'>,
): HoldRow {
  return {
    id: ids.next(),
    balanceId: record.balanceId as string,
    customerId: record.customerId as string,
    amount,
    subjectType: 'recall',
    subjectId: record.id,
    description: 'Recall of an incoming payment',
    createdAt: now,
  }
}

/**
 * Records a recall by the payer's bank and opens a case for staff. `holdId`: the hold of the money, null where it was
 * not held.
 */
export function openRecall(
  record: IncomingRecord,
  {
    caseId,
    amount,
    reasonCode,
    holdId,
  }: {
    readonly caseId: string
    readonly amount: bigint
    readonly reasonCode: IncomingRecallReason
    readonly holdId: string | null
  },
  { ids, now }: Pick<IncomingMoveContext, 'ids' | 'now'>,
): IncomingMove {
  return {
    effects: opensComplianceHold(
      {
        id: caseId,
        kind: 'inbound_recall',
        provider: 'sandbox',
        subjectType: 'incoming_payment',
        subjectId: record.id,
        customerId: record.customerId as string,
        operatorId: record.operatorId,
        shard: record.shard,
        currency: record.currency,
        amount,
        counterparty: record.payerName,
        findings: [{ list: 'RECALL-REQUEST', name: reasonCode, score: 100 }],
        decides: null,
        createdAt: now,
      },
      ids.next(),
    ),
    change: {
      recall: {
        status: 'requested',
        reasonCode,
        amount: amount.toString(),
        caseId,
        requestedAt: timestamp(now),
        decidedAt: null,
        rejectionCode: null,
      },
      recallHoldId: holdId,
    },
  }
}

/** Accepts the recall (L80): the money goes back, out of the hold, by the connection at which it arrived. */
export function acceptRecall(record: IncomingRecord, holdId: string, context: IncomingMoveContext): IncomingMove {
  const { recall } = record
  if (recall === null) throw new Error(`Nobody wants the incoming payment ${record.id} back.`)
  const amount = BigInt(recall.amount)
  return {
    effects: together(
      {
        ...posting('L80', record, amount, context),
        holdResolutions: [
          {
            id: holdId,
            balanceId: record.balanceId as string,
            amount,
            status: 'captured',
            capturedAmount: amount,
            resolvedAt: context.now,
          },
        ],
        events: [
          incomingEvent(record, {
            id: context.ids.next(),
            type: 'incoming_payment.returned',
            status: 'returned',
            previousStatus: record.status,
            at: context.now,
          }),
        ],
      },
      cashOf(record, 'out', amount, context),
    ),
    change: {
      ...goesBack(amount, recall.reasonCode),
      recall: { ...recall, status: 'accepted', decidedAt: timestamp(context.now) },
      recallHoldId: holdId,
    },
  }
}

/** Rejects the recall: the customer keeps the money, and its hold is released. */
export function rejectRecall(
  record: IncomingRecord,
  rejectionCode: string,
  { now }: Pick<IncomingMoveContext, 'now'>,
): IncomingMove {
  const { recall, recallHoldId } = record
  if (recall === null) throw new Error(`Nobody wants the incoming payment ${record.id} back.`)
  const amount = BigInt(recall.amount)
  return {
    effects:
      recallHoldId === null
        ? {}
        : {
            holdResolutions: [
              {
                id: recallHoldId,
                balanceId: record.balanceId as string,
                amount,
                status: 'released',
                capturedAmount: null,
                resolvedAt: now,
              },
            ],
          },
    change: { recall: { ...recall, status: 'rejected', decidedAt: timestamp(now), rejectionCode } },
  }
}

// ── Returns
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Settles the return (L11): the money has left the partner. */
export function settleReturn(record: IncomingRecord, context: IncomingMoveContext): IncomingMove {
  return {
    effects: posting('L11', record, record.returnedAmount as bigint, context),
    change: { returnState: 'settled' },
  }
}

function goesBack(amount: bigint, reasonCode: string): IncomingChange {
  return { status: 'returned', returnedAmount: amount, returnReason: reasonCode, returnState: 'due' }
}

/** Moves the cash to the connection of the balance (`in`), or back from it, where that is another one. */
function cashOf(
  { connectionId, ...record }: IncomingRecord,
  way: 'in' | 'out',
  amount: bigint,
  { home, accounts, ids, now }: IncomingMoveContext,
): Effects {
  if (home === undefined) return {}
  const at = { connectionId, accounts }
  const [from, to] = way === 'in' ? [at, home] : [home, at]
  return cashOfCredit({ ...record, amount }, from, to, { ids, now })
}

/** Adds the fee (L02) to the entry of the money itself. */
function charged(
  fee: bigint,
  record: IncomingRecord,
  { postings = [] }: Pick<Effects, 'postings'>,
  { accounts, ids, now }: IncomingMoveContext,
): Pick<Effects, 'postings'> {
  return {
    postings: [
      ...postings,
      ...feePostings(fee, record, {
        accounts,
        entryId: ids.next(),
        bookedAt: now,
        valueDate: timestamp(now).slice(0, 10),
      }),
    ],
  }
}

function credited(record: IncomingRecord, { ids, now }: IncomingMoveContext): Pick<Effects, 'events'> {
  return {
    events: [
      incomingEvent(record, {
        id: ids.next(),
        type: 'incoming_payment.received',
        status: 'received',
        previousStatus: null,
        at: now,
      }),
    ],
  }
}

function posting(
  rule: RuleId,
  record: IncomingRecord,
  amount: bigint,
  { accounts, ids, now }: IncomingMoveContext,
): Pick<Effects, 'postings'> {
  const { customerId, balanceId, operatorId } = record
  return {
    postings: entry({
      rule,
      amounts: { A: amount },
      currency: record.currency,
      accounts,
      balances: { from: balanceId ?? '', to: { id: balanceId ?? '', fence: 'open' } },
      entryId: ids.next(),
      customerId: customerId ?? operatorId,
      source: { object: customerId === null ? SUSPENSE_SOURCE : INCOMING_SOURCE, id: record.id },
      description: rule === 'L80' ? `${incomingText(record)} recalled` : incomingText(record),
      reference: record.reference,
      counterparty: record.payerName,
      bookedAt: now,
      valueDate: timestamp(now).slice(0, 10),
    }),
  }
}
