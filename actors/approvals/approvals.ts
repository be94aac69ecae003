/**
 * The actor of an approval. Takes decisions one after another, each in its own transaction under the lock of the
 * approval's row.
 *
 * Promises:
 *  * Each approval has one mailbox, on the node that owns its shard, so that many approvers at once use one connection.
 *    Across nodes the row lock has the same effect: a second decision starts from the result of the first (I3).
 *  * The effects of a decision on its subject (a payment goes on, its hold is released, a policy becomes effective),
 *    its events, its trail entries and its notices are written with the decision or not at all (I1, I5).
 *  * Timers are stored in rows: `wake_at` says when an approval is due next, and the node that owns its shard polls for
 *    it. A timed decision takes the same lock as a person's decision, so repeated attempts do no harm.
 *
 * No job library is used for timers. The due time is a column of the approval, written by the transaction that opens
 * it. A job would be a second row with the same fact, which would have to be written, cancelled and cleaned up together
 * with the approval, and would still need this lock. One indexed query per second for the shards of a node replaces it;
 * when nothing is due, the query reads one empty index page.
 */
import { afterDecision, approvalAt, warningAt, type ApprovalRecord } from '../../lib/approvals/approval.ts'
import { SANDBOX_DECISION_MS, type SubjectType } from '../../lib/approvals/opening.ts'
import { approvalsThatCount } from '../../lib/approvals/requesters.ts'
import { HOUR_MS, timestamp, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import { refuse, type Problem } from '../../lib/base/problems.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { givenApprovals, noteCounted } from '../../storage/approvals/approval-standing.ts'
import {
  dueApprovals,
  endApproval,
  insertDecision,
  noteReceived,
  noteWake,
  type ApprovalTx,
  type Ending,
  type NewDecision,
} from '../../storage/approvals/approvals.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import type { Database } from '../../storage/db/database.ts'
import { SYSTEM, type AuditBy } from '../../storage/trail/trail.ts'
import { admitDecision, changedProblem, type DecideRequest, refuseEnded } from './admit-decision.ts'
import { ApprovalMailboxes } from './approval-mailboxes.ts'
import { tellApprovers, tellRequester } from './approval-notices.ts'
import type { ApprovalSubject } from './approval-subject.ts'
import type { Afterwards } from './decision-transaction.ts'
import { Poller } from '../runtime/poller.ts'
import { untilDue } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'

/** The interval between two polls for due approvals, and the number of approvals taken per poll. */
const TICK_MS = 1_000
const DUE_MAX = 256
/** The minimum time between two reminders: one hour. */
const REMINDER_MS = HOUR_MS

/** The approver recorded for decisions of the sandbox. No person can have this id. */
export const SANDBOX_APPROVER = { id: '00000000-0000-4000-8000-00000000a99f', name: 'Sandbox approver' } as const

export interface ApprovalsOptions {
  readonly wakes: Wakes
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly shards: Shards
  readonly subjects: Readonly<Partial<Record<SubjectType, ApprovalSubject>>>
  readonly onError: (error: unknown, what: string) => void
}

/** The turn of an approval: its transaction, its locked row (null when there is none), and the work after the commit. */
export interface ApprovalTurn extends ApprovalTx {
  readonly approval: ApprovalRecord | null
  readonly afterwards: Afterwards
}

export class Approvals extends Poller {
  readonly #options: ApprovalsOptions
  readonly #mailboxes: ApprovalMailboxes

  constructor(options: ApprovalsOptions) {
    super({
      everyMs: TICK_MS,
      poll: () => this.#poll(),
      rest: untilDue(options, ['approval']),
      onError: (error) => options.onError(error, 'approvals that are due'),
    })
    this.#options = options
    this.#mailboxes = new ApprovalMailboxes(options)
  }

  /** Runs work in the turn of an approval: in a transaction that holds its lock. @throws what the work throws */
  async inTurn<Result>(approvalId: string, work: (turn: ApprovalTurn) => Promise<Result>): Promise<Result> {
    return await this.#mailboxes.within(approvalId, (tx, approval, afterwards) => work({ ...tx, approval, afterwards }))
  }

  /**
   * Records the decision of one person in the approval's turn.
   *
   * @returns the problem `approval-subject-changed` when the approval was withdrawn, because its subject has changed;
   *   that is to be committed
   * @throws ProblemError `not-found`; `insufficient-scope` when the person is not an approver of this approval;
   *   `invalid-transition` when the approval has ended or the person has already decided; `approval-subject-changed`
   *   when the person was shown other terms
   */
  async decide({ approval, afterwards, ...tx }: ApprovalTurn, request: DecideRequest): Promise<Problem | null> {
    if (approval === null || approval.customerId !== request.customerId)
      refuse('not-found', 'No such approval exists in this tenant.')
    const current = approvalAt(approval, tx.now)
    const admitted = await admitDecision(tx, current, this.#subject(current), request)
    // A refusal that is recorded under its key is committed without what the decision wrote, so nothing follows it.
    const following: Afterwards = []
    const problem = await this.#take(tx, admitted, request, request.by, following)
    afterwards.push(...following)
    return problem
  }

  /**
   * Ends an approval and its subject, because the customer withdraws the subject.
   *
   * @returns false when the approval does not exist or is no longer pending; one whose time is over has expired then
   */
  async cancel(request: {
    readonly approvalId: string
    readonly reason: string
    readonly by: AuditBy
    readonly effects?: (now: number) => Effects
  }): Promise<boolean> {
    return await this.#mailboxes.within(request.approvalId, async (tx, approval, afterwards) => {
      if (approval === null || approval.status !== 'pending') return false
      if (approvalAt(approval, tx.now).status === 'expired') {
        await this.#expire(tx, approval, afterwards)
        return false
      }
      await this.#end(
        tx,
        approval,
        { status: 'cancelled', received: approval.received, reason: request.reason },
        request.by,
        afterwards,
        request.effects?.(tx.now),
      )
      return true
    })
  }

  /**
   * Sends a reminder to the approvers who may still decide.
   *
   * @throws ProblemError `not-found`; `invalid-transition` when the approval has ended; `rate-limited` within one hour
   *   of the last reminder
   */
  async remind({
    approvalId,
    customerId,
  }: {
    readonly approvalId: string
    readonly customerId: string
  }): Promise<void> {
    await this.#mailboxes.within(approvalId, async (tx, approval) => {
      if (approval === null || approval.customerId !== customerId)
        refuse('not-found', 'No such approval exists in this tenant.')
      const current = approvalAt(approval, tx.now)
      if (current.status !== 'pending') refuseEnded(current)
      const free = (approval.remindedAt ?? Number.NEGATIVE_INFINITY) + REMINDER_MS
      if (tx.now < free) {
        refuse('rate-limited', 'Approvers are reminded at most once an hour.', {
          retryAfterSeconds: Math.ceil((free - tx.now) / 1000),
          extra: { violatedPolicies: ['approval-reminder'] },
        })
      }
      await tellApprovers(tx, approval, { type: 'approval_requested', text: 'You are asked again to decide.' })
      await noteWake(tx.client, approval.id, { ...approval, remindedAt: tx.now })
    })
  }

  // ── A decision
  // ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Writes a decision and its consequences.
   *
   * @returns the problem to answer with when a write happened but the approver is refused
   */
  async #take(
    tx: ApprovalTx,
    approval: ApprovalRecord,
    decision: NewDecision,
    by: AuditBy,
    afterwards: Afterwards,
  ): Promise<Problem | null> {
    // Approvals given by people who may no longer approve do not count, even when they were received in time.
    const counted = approvalsThatCount(await givenApprovals(tx.client, approval.id), approval.tier)
    await noteCounted(tx.client, approval, counted)
    const { status, received } = afterDecision(
      { received: counted.length, required: approval.required },
      decision.decision,
    )
    if (status === 'approved') {
      const changed = (await this.#subject(approval).changed?.(tx, approval)) ?? null
      if (changed !== null) {
        await this.#end(
          tx,
          approval,
          { status: 'cancelled', received: counted.length, reason: changed.reason },
          SYSTEM,
          afterwards,
        )
        return changedProblem(changed.currentMaskedIdentifier)
      }
    }
    await insertDecision(tx, approval, decision)
    if (status === 'pending') await noteReceived(tx, approval, received)
    else await this.#end(tx, approval, { status, received, reason: decision.comment }, by, afterwards)
    return null
  }

  /** Ends the approval together with its subject. */
  async #end(
    tx: ApprovalTx,
    approval: ApprovalRecord,
    ending: Ending,
    by: AuditBy,
    afterwards: Afterwards,
    further: Effects = {},
  ): Promise<void> {
    const { effects = {}, after } = await this.#subject(approval).ended(tx, approval, ending)
    const { events } = await endApproval(tx, approval, ending, by)
    await writeEffects(tx, {
      ...effects,
      ...further,
      events: [...(events ?? []), ...(effects.events ?? []), ...(further.events ?? [])],
    })
    const words = {
      approved: 'approved',
      rejected: 'rejected',
      expired: 'not decided in time',
      cancelled: 'withdrawn',
    } as const
    await tellRequester(tx, approval, {
      title: `${approval.subject.title}: ${words[ending.status]}`,
      // Only a rejection has a text written by a person; all other reasons are codes.
      text:
        ending.status === 'rejected' && ending.reason !== null
          ? ending.reason
          : `The approval was ${words[ending.status]}.`,
    })
    if (after !== undefined) afterwards.push(after)
  }

  #subject({ subjectType }: ApprovalRecord): ApprovalSubject {
    const subject = this.#options.subjects[subjectType]
    if (subject === undefined) throw new Error(`Nothing is known of approvals of ${subjectType}.`)
    return subject
  }

  // ── Time
  // ────────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #poll(): Promise<void> {
    const { database, clock, shards, onError } = this.#options
    // In sequence, because these decisions belong to no request and must not take the connections that requests need.
    for (const id of await dueApprovals(database, { now: clock.now(), owned: shards.owned(), max: DUE_MAX })) {
      await this.#mailboxes
        .within(id, (tx, approval, afterwards) => this.#wake(tx, approval, afterwards))
        .catch((error: unknown) => onError(error, `approval ${id}`))
    }
  }

  async #wake(tx: ApprovalTx, approval: ApprovalRecord | null, afterwards: Afterwards): Promise<void> {
    if (approval === null || approval.status !== 'pending') return
    const { now } = tx
    if (approvalAt(approval, now).status === 'expired') return await this.#expire(tx, approval, afterwards)
    let announcedAt = approval.announcedAt
    if (announcedAt === null) {
      await tellApprovers(tx, approval, {
        type: 'approval_requested',
        text: `${approval.requestedByName} asks for your approval.`,
      })
      announcedAt = now
    }
    const sandboxAt = approval.sandboxDecision === null ? null : approval.createdAt + SANDBOX_DECISION_MS
    if (
      sandboxAt !== null &&
      sandboxAt <= now &&
      ((await this.#subject(approval).blocked?.(tx, approval, approval.sandboxDecision as 'approved' | 'rejected')) ??
        null) === null
    ) {
      await this.#decideForSandbox(tx, approval, approval.sandboxDecision as 'approved' | 'rejected', afterwards)
      return
    }
    let { warnedAt } = approval
    const warning = warningAt(approval)
    if (warning !== null && warning <= now) {
      await tellApprovers(tx, approval, {
        type: 'approval_expiring',
        text: `It expires at ${timestamp(approval.expiresAt)}.`,
      })
      warnedAt = now
    }
    const next = [
      approval.expiresAt,
      warningAt({ ...approval, warnedAt }),
      sandboxAt === null ? null : Math.max(sandboxAt, now + TICK_MS),
    ]
    await noteWake(tx.client, approval.id, {
      ...approval,
      announcedAt,
      warnedAt,
      wakeAt: Math.min(...next.filter((time) => time !== null)),
    })
  }

  /** Ends an approval whose time is over. */
  async #expire(tx: ApprovalTx, approval: ApprovalRecord, afterwards: Afterwards): Promise<void> {
    await this.#end(tx, approval, { status: 'expired', received: approval.received, reason: null }, SYSTEM, afterwards)
  }

  /** Makes the sandbox approver give every decision that is missing. */
  async #decideForSandbox(
    tx: ApprovalTx,
    approval: ApprovalRecord,
    decision: 'approved' | 'rejected',
    afterwards: Afterwards,
  ): Promise<void> {
    const word: NewDecision = {
      userId: SANDBOX_APPROVER.id,
      userName: SANDBOX_APPROVER.name,
      decision,
      comment: decision === 'rejected' ? 'Rejected by the sandbox.' : null,
      stepUpMethod: null,
    }
    let current = approval
    let received = approvalsThatCount(await givenApprovals(tx.client, approval.id), approval.tier).length
    while (decision === 'approved' && received + 1 < current.required) {
      await insertDecision(tx, current, word)
      received += 1
      current = await noteReceived(tx, current, received)
    }
    await this.#take(tx, current, word, SYSTEM, afterwards)
  }
}
