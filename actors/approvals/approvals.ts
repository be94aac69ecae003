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
import { afterDecision, warningAt, type ApprovalRecord } from '../../lib/approvals/approval.ts'
import { SANDBOX_DECISION_MS, type SubjectType } from '../../lib/approvals/opening.ts'
import { approvalsThatCount } from '../../lib/approvals/requesters.ts'
import { HOUR_MS, timestamp, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { Mailer } from '../../lib/notices/mail.ts'
import { refuse, type Problem, ProblemError } from '../../lib/base/problems.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import {
  addRequesters,
  approversOf,
  givenApprovals,
  noteCounted,
  standingOf,
} from '../../storage/approvals/approval-standing.ts'
import {
  dueApprovals,
  endApproval,
  insertDecision,
  lockApproval,
  noteReceived,
  noteWake,
  type ApprovalTx,
  type Ending,
  type NewDecision,
} from '../../storage/approvals/approvals.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import type { Database } from '../../storage/db/database.ts'
import { SYSTEM, type AuditBy } from '../../storage/trail/trail.ts'
import { insertNotices, type Notice } from '../../storage/notices/notices.ts'
import { decideInTransaction, type Afterwards } from './decision-transaction.ts'
import { Overloaded } from '../runtime/lane.ts'
import { Poller } from '../runtime/poller.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

/** The interval between two polls for due approvals, and the number of approvals taken per poll. */
const TICK_MS = 1_000
const DUE_MAX = 256
/** The minimum time between two reminders: one hour. */
const REMINDER_MS = HOUR_MS

/** The approver recorded for decisions of the sandbox. No person can have this id. */
export const SANDBOX_APPROVER = { id: '00000000-0000-4000-8000-00000000a99f', name: 'Sandbox approver' } as const

/** The effects to write together with the end of an approval, and a callback to run after the commit. */
export interface SubjectOutcome {
  readonly effects?: Effects
  readonly after?: () => void
}

/**
 * The behaviour of one kind of subject when its approval ends. Each method runs within the transaction of the decision.
 */
export interface ApprovalSubject {
  /** Returns the reason why the approval cannot be decided now; null when it can be decided. */
  blocked?(tx: ApprovalTx, approval: ApprovalRecord): Promise<Problem | null>
  /**
   * Checks, before an approval goes through, whether the subject still has the terms that the approvers were shown.
   * Returns null when it does. Otherwise the approval is withdrawn for the returned reason, and the approver is told.
   */
  changed?(
    tx: ApprovalTx,
    approval: ApprovalRecord,
  ): Promise<{ readonly reason: string; readonly currentMaskedIdentifier: string | null } | null>
  /**
   * Returns the ids of the people and keys that have shaped the terms since the approval opened, in addition to those
   * stored with it.
   */
  shapedBy?(tx: ApprovalTx, approval: ApprovalRecord): Promise<readonly string[]>
  /** Applies the end of the approval to the subject. */
  ended(tx: ApprovalTx, approval: ApprovalRecord, ending: Ending): Promise<SubjectOutcome>
}

export interface ApprovalsOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly shards: Shards
  readonly mailer: Mailer
  readonly subjects: Readonly<Partial<Record<SubjectType, ApprovalSubject>>>
  readonly onError: (error: unknown, what: string) => void
}

export interface DecideRequest extends Pick<NewDecision, 'userId' | 'userName' | 'decision' | 'comment'> {
  readonly customerId: string
  readonly approvalId: string
  /** The version of the approval that the approver was shown; null accepts any version. */
  readonly expected?: number | bigint | null
  /** The details that the approver was shown; null for a detail that the approver did not send back. */
  readonly shown: {
    readonly recipientMaskedIdentifier: string | null
    readonly amount: { readonly amountMinor: string; readonly currency: string } | null
  }
  readonly by: AuditBy
}

export class Approvals extends Poller {
  readonly #options: ApprovalsOptions
  /** For each approval that is being decided here: its last transaction, and the number of transactions that wait. */
  readonly #mailboxes = new Map<string, { tail: Promise<unknown>; waiting: number }>()
  readonly #work = new Set<Promise<unknown>>()

  constructor(options: ApprovalsOptions) {
    super({
      everyMs: TICK_MS,
      poll: () => this.#poll(),
      onError: (error) => options.onError(error, 'approvals that are due'),
    })
    this.#options = options
  }

  /** Stops polling, and waits for the decisions that have begun. */
  override async stop(): Promise<void> {
    await super.stop()
    await Promise.allSettled(this.#work)
  }

  /**
   * Records the decision of one person.
   *
   * @throws ProblemError `not-found`; `insufficient-scope` when the person is not an approver of this approval;
   *   `invalid-transition` when the approval has ended or the person has already decided; `approval-subject-changed`.
   *   Nothing was written then, except that an approval whose subject has changed is withdrawn
   */
  async decide(request: DecideRequest): Promise<void> {
    const problem = await this.#within(
      request.approvalId,
      async (tx, approval, afterwards): Promise<Problem | null> => {
        if (approval === null || approval.customerId !== request.customerId)
          refuse('not-found', 'No such approval exists in this tenant.')
        const admitted = await this.#admit(tx, approval, request)
        return await this.#take(tx, admitted, { ...request, stepUpMethod: 'totp' }, request.by, afterwards)
      },
    )
    if (problem !== null) throw new ProblemError(problem)
  }

  /**
   * Ends an approval and its subject, because the customer withdraws the subject.
   *
   * @returns false when the approval does not exist or is no longer pending
   */
  async cancel(request: {
    readonly approvalId: string
    readonly reason: string
    readonly by: AuditBy
    readonly effects?: (now: number) => Effects
  }): Promise<boolean> {
    return await this.#within(request.approvalId, async (tx, approval, afterwards) => {
      if (approval === null || approval.status !== 'pending') return false
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
    await this.#within(approvalId, async (tx, approval, afterwards) => {
      if (approval === null || approval.customerId !== customerId)
        refuse('not-found', 'No such approval exists in this tenant.')
      if (approval.status !== 'pending') refuseEnded(approval)
      const free = (approval.remindedAt ?? Number.NEGATIVE_INFINITY) + REMINDER_MS
      if (tx.now < free) {
        refuse('rate-limited', 'Approvers are reminded at most once an hour.', {
          retryAfterSeconds: Math.ceil((free - tx.now) / 1000),
          extra: { violatedPolicies: ['approval-reminder'] },
        })
      }
      await this.#tellApprovers(
        tx,
        approval,
        { type: 'approval_requested', text: 'You are asked again to decide.' },
        afterwards,
      )
      await noteWake(tx.client, approval.id, { ...approval, remindedAt: tx.now })
    })
  }

  // ── A decision ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Checks that this person may decide this approval now. @throws ProblemError when the person may not */
  async #admit(
    tx: ApprovalTx,
    asked: ApprovalRecord,
    { userId, decision, shown, expected = null }: DecideRequest,
  ): Promise<ApprovalRecord> {
    checkVersion(asked, expected)
    const approval = await addRequesters(tx.client, asked, (await this.#subject(asked).shapedBy?.(tx, asked)) ?? [])
    const standing = await standingOf(tx.client, approval.id, userId)
    if (standing === null || !standing.inTier || !standing.notOwn) {
      refuse(
        'insufficient-scope',
        standing?.inTier === true
          ? 'Requesters do not decide on their own request.'
          : 'You are not an approver of this tier.',
        { extra: { requiredCapability: 'approvals.decide' } },
      )
    }
    if (approval.status !== 'pending') refuseEnded(approval)
    if (standing.hasDecided)
      refuse('invalid-transition', 'You have already decided on this approval.', {
        extra: { currentStatus: approval.status, allowed: [] },
      })
    if (standing.teamUsed && decision === 'approved') {
      refuse(
        'insufficient-scope',
        'A person of your team has approved; the next approval must come from another team.',
        { extra: { requiredCapability: 'approvals.decide' } },
      )
    }
    const { recipientMaskedIdentifier, amount } = approval.subject
    const isShown =
      (shown.recipientMaskedIdentifier === null || shown.recipientMaskedIdentifier === recipientMaskedIdentifier) &&
      (shown.amount === null ||
        (shown.amount.amountMinor === amount?.amountMinor && shown.amount.currency === amount.currency))
    if (!isShown) refuseChanged(recipientMaskedIdentifier)
    const blocked = (await this.#subject(approval).blocked?.(tx, approval)) ?? null
    if (blocked !== null) throw new ProblemError(blocked)
    return approval
  }

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
    await this.#tell(
      tx,
      [approval.requestedBy],
      {
        tenantId: approval.customerId,
        type: 'approval_decided',
        title: `${approval.subject.title}: ${words[ending.status]}`,
        // Only a rejection has a text written by a person; all other reasons are codes.
        text:
          ending.status === 'rejected' && ending.reason !== null
            ? ending.reason
            : `The approval was ${words[ending.status]}.`,
        object: { type: 'approval', id: approval.id },
      },
      afterwards,
    )
    if (after !== undefined) afterwards.push(after)
  }

  #subject({ subjectType }: ApprovalRecord): ApprovalSubject {
    const subject = this.#options.subjects[subjectType]
    if (subject === undefined) throw new Error(`Nothing is known of approvals of ${subjectType}.`)
    return subject
  }

  // ── Time ────────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #poll(): Promise<void> {
    const { database, clock, shards, onError } = this.#options
    // In sequence, because these decisions belong to no request and must not take the connections that requests need.
    for (const id of await dueApprovals(database, { now: clock.now(), owned: shards.owned(), max: DUE_MAX })) {
      await this.#within(id, (tx, approval, afterwards) => this.#wake(tx, approval, afterwards)).catch(
        (error: unknown) => onError(error, `approval ${id}`),
      )
    }
  }

  async #wake(tx: ApprovalTx, approval: ApprovalRecord | null, afterwards: Afterwards): Promise<void> {
    if (approval === null || approval.status !== 'pending') return
    const { now } = tx
    if (approval.expiresAt <= now) {
      await this.#end(
        tx,
        approval,
        { status: 'expired', received: approval.received, reason: null },
        SYSTEM,
        afterwards,
      )
      return
    }
    let announcedAt = approval.announcedAt
    if (announcedAt === null) {
      await this.#tellApprovers(
        tx,
        approval,
        { type: 'approval_requested', text: `${approval.requestedByName} asks for your approval.` },
        afterwards,
      )
      announcedAt = now
    }
    const sandboxAt = approval.sandboxDecision === null ? null : approval.createdAt + SANDBOX_DECISION_MS
    if (
      sandboxAt !== null &&
      sandboxAt <= now &&
      ((await this.#subject(approval).blocked?.(tx, approval)) ?? null) === null
    ) {
      await this.#decideForSandbox(tx, approval, approval.sandboxDecision as 'approved' | 'rejected', afterwards)
      return
    }
    let { warnedAt } = approval
    const warning = warningAt(approval)
    if (warning !== null && warning <= now) {
      await this.#tellApprovers(
        tx,
        approval,
        { type: 'approval_expiring', text: `It expires at ${timestamp(approval.expiresAt)}.` },
        afterwards,
      )
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

  // ── Telling people ──────────────────────────────────────────────────────────────────────────────────────────────────

  async #tellApprovers(
    tx: ApprovalTx,
    approval: ApprovalRecord,
    { type, text }: Pick<Notice, 'type' | 'text'>,
    afterwards: Afterwards,
  ): Promise<void> {
    const approvers = await approversOf(tx.client, approval.id)
    await this.#tell(
      tx,
      approvers.map(({ userId }) => userId),
      {
        tenantId: approval.customerId,
        type,
        text,
        title: `${approval.subject.title} waits for approval`,
        object: { type: 'approval', id: approval.id },
      },
      afterwards,
    )
  }

  async #tell(
    { client, ids, now }: ApprovalTx,
    userIds: readonly string[],
    notice: Notice,
    afterwards: Afterwards,
  ): Promise<void> {
    const addresses = await insertNotices(client, ids, userIds, notice, now)
    const { mailer, onError } = this.#options
    afterwards.push(() => {
      for (const to of addresses)
        this.#background(
          mailer
            .send({ to, subject: notice.title, text: notice.text })
            .catch((error: unknown) => onError(error, 'mail')),
        )
    })
  }

  #background(work: Promise<unknown>): void {
    const guarded = work.finally(() => this.#work.delete(guarded))
    this.#work.add(guarded)
  }

  // ── The mailbox ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Runs one transaction under the lock of an approval, after the earlier ones of this node.
   *
   * @throws Overloaded when too many wait
   */
  async #within<Result>(
    id: string,
    work: (tx: ApprovalTx, approval: ApprovalRecord | null, afterwards: Afterwards) => Promise<Result>,
  ): Promise<Result> {
    const mailbox = this.#mailboxes.get(id) ?? { tail: Promise.resolve(), waiting: 0 }
    if (mailbox.waiting >= LIMITS.approvalMailboxMax)
      throw new Overloaded('Too many decisions are waiting; try again shortly.')
    this.#mailboxes.set(id, mailbox)
    mailbox.waiting += 1
    const turn = mailbox.tail.then(() => this.#transaction(id, work))
    mailbox.tail = turn.catch(() => {
      /* The caller gets the error; the next decision is independent of it. */
    })
    try {
      return await turn
    } finally {
      mailbox.waiting -= 1
      if (mailbox.waiting === 0) this.#mailboxes.delete(id)
    }
  }

  #transaction<Result>(
    id: string,
    work: (tx: ApprovalTx, approval: ApprovalRecord | null, afterwards: Afterwards) => Promise<Result>,
  ): Promise<Result> {
    return decideInTransaction(
      this.#options,
      async (tx, afterwards) => await work(tx, await lockApproval(tx.client, id), afterwards),
    )
  }
}

function refuseEnded({ status }: Pick<ApprovalRecord, 'status'>): never {
  refuse('invalid-transition', `The approval is ${status}.`, { extra: { currentStatus: status, allowed: [] } })
}

function changedProblem(currentMaskedIdentifier: string | null): Problem {
  return {
    slug: 'approval-subject-changed',
    detail: 'The subject has changed since it was shown.',
    extra: { currentMaskedIdentifier },
  }
}

function refuseChanged(currentMaskedIdentifier: string | null): never {
  throw new ProblemError(changedProblem(currentMaskedIdentifier))
}
