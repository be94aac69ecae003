/**
 * The moves of a mandate (M2 to M12), as one table. Pure: times are epoch milliseconds.
 *
 *   none ─create─▶ pending ──sign, no lodging needed──▶ active ◀─reinstate──┐
 *                    │ └─lodge─▶ submitted ──activate──▶ active ─suspend─▶ suspended
 *                    │              │                      ├─ payer_cancel, cancel ─▶ cancelled (from suspended too)
 *                    └──── fail ────┴─▶ failed             ├─ expire ─▶ expired
 *                    └─── cancel ───┴─▶ cancelled          ├─ consume ─▶ consumed
 *                                                          └─ amend ─▶ active
 */
import { timestamp } from '../base/clock.ts'
import { transitionProblem, type Problem } from '../base/problems.ts'
import {
  OPEN_MANDATE_STATUSES,
  type MandateCounterparty,
  type MandateOriginals,
  type MandateRecord,
  type MandateStatus,
} from './mandate.ts'
import { accountOf } from './account.ts'
import type { CollectionMove } from './collection-moves.ts'
import type { CollectionRecord } from './collection.ts'
import { DEBIT_SCHEMES } from './schemes.ts'

export type MandateMove =
  /** The payer has signed; epoch milliseconds. */
  | { readonly kind: 'sign'; readonly signedAt: number }
  | { readonly kind: 'lodge'; readonly providerRef: string | null }
  | { readonly kind: 'activate'; readonly providerRef: string | null; readonly signedAt: number | null }
  | { readonly kind: 'fail' | 'suspend' | 'reinstate' | 'payer_cancel' | 'cancel'; readonly reason: string | null }
  | { readonly kind: 'expire' | 'consume' }
  /** The members of the counterparty that change. */
  | { readonly kind: 'amend'; readonly counterparty: Partial<MandateCounterparty>; readonly reason: string | null }

export type MandateMoveKind = MandateMove['kind']

interface MandateMoveRow {
  /** The row of the contract's table. */
  readonly row: string
  readonly from: readonly MandateStatus[]
  readonly to: MandateStatus
  /** The message in the update log. */
  readonly message: string
  /** What becomes of the mandate's pending collections: they go on, are cancelled, or fail. */
  readonly pending: 'go on' | 'cancelled' | 'failed'
}

export const MANDATE_MOVES: Readonly<Record<MandateMoveKind, MandateMoveRow>> = {
  sign: { row: 'M2', from: ['pending'], to: 'active', message: 'Mandate signed and active.', pending: 'go on' },
  lodge: { row: 'M3', from: ['pending'], to: 'submitted', message: 'Mandate lodged.', pending: 'go on' },
  activate: { row: 'M4', from: ['submitted'], to: 'active', message: 'Mandate active.', pending: 'go on' },
  fail: {
    row: 'M5',
    from: ['pending', 'submitted'],
    to: 'failed',
    message: 'Mandate refused.',
    pending: 'failed',
  },
  cancel: {
    row: 'M6, M7',
    from: OPEN_MANDATE_STATUSES,
    to: 'cancelled',
    message: 'Mandate cancelled.',
    pending: 'cancelled',
  },
  payer_cancel: {
    row: 'M8',
    from: ['active', 'suspended'],
    to: 'cancelled',
    message: "Mandate cancelled by the payer's bank.",
    pending: 'cancelled',
  },
  suspend: { row: 'M9', from: ['active'], to: 'suspended', message: 'Mandate suspended.', pending: 'go on' },
  reinstate: { row: 'M9', from: ['suspended'], to: 'active', message: 'Mandate reinstated.', pending: 'go on' },
  expire: { row: 'M10', from: ['active'], to: 'expired', message: 'Mandate expired.', pending: 'cancelled' },
  consume: { row: 'M11', from: ['active'], to: 'consumed', message: 'Mandate used.', pending: 'cancelled' },
  amend: { row: 'M12', from: ['active'], to: 'active', message: 'Account of the payer changed.', pending: 'go on' },
}

export type MandateMoved = { readonly mandate: MandateRecord } | { readonly refused: Problem }

/** Whether a mandate needs no lodging: its signature alone makes it active. */
export const needsNoLodging = ({ management, scheme }: Pick<MandateRecord, 'management' | 'scheme'>): boolean =>
  management === 'client' && DEBIT_SCHEMES[scheme].lodging.by === 'none'

/**
 * Whether the contract's table has a row for a move. `sign` moves only where no lodging is needed, and a cancellation by
 * people waits for the collections that are in clearing.
 */
export function mandateMoves(mandate: MandateRecord, kind: MandateMoveKind): boolean {
  return (
    MANDATE_MOVES[kind].from.includes(mandate.status) &&
    (kind !== 'sign' || needsNoLodging(mandate)) &&
    (kind !== 'cancel' || mandate.submittedCount === 0)
  )
}

/** Decides one move. The mandate's collections follow in debit-decision.ts. */
export function moveMandate(mandate: MandateRecord, move: MandateMove, now: number): MandateMoved {
  if (!mandateMoves(mandate, move.kind)) return { refused: mandateRefusal(mandate, move.kind) }
  const { to } = MANDATE_MOVES[move.kind]
  const reason = 'reason' in move ? move.reason : null
  const at = timestamp(now)
  const next: MandateRecord = {
    ...mandate,
    status: to,
    version: mandate.version + 1,
    statusReason: reason,
    history: [...mandate.history, { status: to, at, reason }],
    updatedAt: now,
  }
  switch (move.kind) {
    case 'sign':
      return { mandate: { ...next, signedAt: move.signedAt, activatedAt: now } }
    case 'lodge':
      return { mandate: { ...next, submittedAt: now, providerRef: move.providerRef ?? mandate.providerRef } }
    case 'activate':
      return {
        mandate: {
          ...next,
          activatedAt: now,
          signedAt: move.signedAt ?? mandate.signedAt,
          providerRef: move.providerRef ?? mandate.providerRef,
        },
      }
    case 'cancel':
      return { mandate: { ...next, cancelledAt: now, endDueAt: endDueAt(mandate, now) } }
    case 'payer_cancel':
      return { mandate: { ...next, cancelledAt: now } }
    case 'expire':
      return { mandate: { ...next, endDueAt: endDueAt(mandate, now) } }
    case 'amend':
      return { mandate: amended(mandate, next, move.counterparty, at) }
    default:
      return { mandate: next }
  }
}

/** How long the call may take by which a mandate is lodged: an end that overtook it would be forgotten. */
const LODGING_MS = 20_000

/** Returns when the bank of the connection is told that a mandate has ended here; null: it never had it. */
function endDueAt(
  { submittedAt, providerRef }: Pick<MandateRecord, 'submittedAt' | 'providerRef'>,
  now: number,
): number | null {
  if (providerRef !== null) return now
  return submittedAt === null ? null : Math.max(now, submittedAt + LODGING_MS)
}

/**
 * Replaces members of the counterparty. The former account stays in the history, and as the original value of the
 * amendment until a file has carried it; of several amendments the first original counts.
 */
function amended(
  before: MandateRecord,
  next: MandateRecord,
  change: Partial<MandateCounterparty>,
  at: string,
): MandateRecord {
  const former = accountOf(before.counterparty)
  const originals: MandateOriginals = { since: at, account: former, ...before.pendingAmendment }
  return {
    ...next,
    statusReason: before.statusReason,
    counterparty: { ...before.counterparty, ...change },
    pendingAmendment: before.presentedCount === 0 ? before.pendingAmendment : originals,
    history: next.history.map((entry, index) =>
      index < next.history.length - 1
        ? entry
        : {
            ...entry,
            formerAccount: former,
            ...(change.name === undefined || change.name === before.counterparty.name
              ? {}
              : { formerName: before.counterparty.name }),
          },
    ),
  }
}

/** A presentation takes the amendment that no other one has told; a refused one has told nothing. */
export function amendmentAfter(
  { pendingAmendment }: Pick<MandateRecord, 'pendingAmendment'>,
  { amendment }: Pick<CollectionRecord, 'amendment'>,
  { kind }: Pick<CollectionMove, 'kind'>,
): CollectionRecord['amendment'] {
  if (kind === 'submit') return pendingAmendment
  return kind === 'fail' ? null : amendment
}

/**
 * The amendment that the next presentation has to tell: none after a presentation, and what a refused one was to tell
 * once more. Of several amendments the first original counts.
 */
export function pendingAfter(
  { pendingAmendment: pending }: Pick<MandateRecord, 'pendingAmendment'>,
  { amendment }: Pick<CollectionRecord, 'amendment'>,
  { kind }: Pick<CollectionMove, 'kind'>,
): MandateRecord['pendingAmendment'] {
  if (kind === 'submit') return null
  return kind === 'fail' && amendment !== null ? { ...pending, ...amendment } : pending
}

/** Builds the 409 of a move that the present state does not allow. */
export function mandateRefusal(mandate: MandateRecord, kind: MandateMoveKind): Problem {
  const { status } = mandate
  if (kind === 'cancel' && MANDATE_MOVES.cancel.from.includes(status))
    return {
      slug: 'not-cancellable',
      detail: 'A collection of the mandate is in clearing.',
      extra: { currentStatus: status },
    }
  return transitionProblem(`The mandate is ${status}.`, status, MANDATE_MOVES[kind].from)
}
