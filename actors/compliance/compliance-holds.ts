/**
 * The operator's queue of compliance holds. Staff decide on a hold under the lock of its row. The effects on its
 * subject, the events and the trail entry are written with the decision or not at all.
 *
 * A hold may concern any kind of subject. `HeldSubjects` is the registry of the effects that a release and a block have
 * on each kind. A further kind opens a hold with `opensComplianceHold` and adds its own `HeldSubjectKind`; staff
 * operations, the rule of two people, notes and trail then work without more code.
 *
 * Due times are a column, as with approvals: the node that owns a hold's shard polls for holds that the sandbox
 * decides.
 */
import type { AuditVerb } from '../../lib/base/audit-actions.ts'
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import { complianceHoldEvent, type ComplianceDecision, type HeldSubject } from '../../lib/compliance/hold.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { refuse, refuseTransition } from '../../lib/base/problems.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import {
  addComplianceNote,
  decideComplianceHold,
  dueComplianceHolds,
  lockComplianceHold,
  NOTES_MAX,
  proposeDecision,
  type ComplianceHoldRecord,
} from '../../storage/compliance/compliance-holds.ts'
import type { Database } from '../../storage/db/database.ts'
import { SYSTEM, writeAudit, type AuditBy } from '../../storage/trail/trail.ts'
import { readOperator } from '../../storage/operators/operators.ts'
import type { SubjectOutcome } from '../approvals/approval-subject.ts'
import { Poller } from '../runtime/poller.ts'
import { untilDue } from '../runtime/rest.ts'
import type { Wakes } from '../runtime/wakes.ts'
import { decideInTransaction } from '../approvals/decision-transaction.ts'

/** The poll interval, and the number of due holds taken per poll. */
const TICK_MS = 1_000
const DUE_MAX = 256

/** The reviewer recorded for decisions of the sandbox: an id that no person can have. */
export const SANDBOX_REVIEWER = { id: '00000000-0000-4000-8000-00000000a99e', name: 'Sandbox reviewer' } as const

/** The effect of a decision on one kind of subject, within the transaction of the decision. */
export interface HeldSubjectKind {
  decided(
    tx: ApprovalTx,
    hold: ComplianceHoldRecord,
    decision: ComplianceDecision,
    options: { readonly freezeFunds: boolean },
  ): Promise<SubjectOutcome>
}

export type HeldSubjects = Readonly<Partial<Record<HeldSubject, HeldSubjectKind>>>

export interface ComplianceHoldsOptions {
  readonly wakes: Wakes
  readonly database: Database
  readonly clock: Clock
  readonly ids: IdSource
  readonly shards: Shards
  readonly subjects: HeldSubjects
  readonly onError: (error: unknown, what: string) => void
}

/** A member of the operator's staff, and the hold to act on. */
interface Acting {
  readonly holdId: string
  readonly operatorId: string
  readonly by: AuditBy
}

export interface HoldDecision extends Acting {
  readonly decision: ComplianceDecision
  readonly reason: string
  readonly freezeFunds: boolean
}

export class ComplianceHolds extends Poller {
  readonly #options: ComplianceHoldsOptions

  constructor(options: ComplianceHoldsOptions) {
    super({
      everyMs: TICK_MS,
      poll: () => this.#poll(),
      rest: untilDue(options, ['compliance_hold']),
      onError: (error) => options.onError(error, 'holds that are due'),
    })
    this.#options = options
  }

  /**
   * Records the decision of one person. Where the operator requires two people, the first decision is stored as a
   * proposal, and the same decision by another person ends the hold; a different decision replaces the proposal.
   *
   * @returns `proposed` while a second person is needed
   * @throws ProblemError `not-found` when the operator has no such hold, `invalid-transition` when it has been decided
   */
  async decide(request: HoldDecision): Promise<'decided' | 'proposed'> {
    const { decision, reason, freezeFunds, by } = request
    return await decideInTransaction(this.#options, async (tx, afterwards) => {
      const hold = await lockOpen(tx, request)
      const operator = await readOperator(tx.client, hold.operatorId)
      if (operator?.compliance.fourEyesRelease !== false && !isConfirmation(hold, request)) {
        await proposeDecision(tx.client, hold.id, {
          decision,
          reason,
          freezeFunds,
          by: by.actor.id,
          byName: by.actor.name,
          at: timestamp(tx.now),
        })
        await this.#trail(tx, hold, by, 'proposed', { proposal: hold.proposal }, { decision, reason, freezeFunds })
        return 'proposed'
      }
      afterwards.push(await this.#end(tx, hold, request))
      return 'decided'
    })
  }

  /** Adds a note to a hold, open or decided. @throws ProblemError `not-found`, `limit-reached` */
  async note({ holdId, operatorId, by, text }: Acting & { readonly text: string }): Promise<void> {
    await decideInTransaction(this.#options, async (tx) => {
      const hold = await lockOf(tx, { holdId, operatorId })
      const added = await addComplianceNote(tx.client, {
        id: tx.ids.next(),
        holdId,
        author: by.actor,
        text,
        now: tx.now,
      })
      if (!added)
        refuse('limit-reached', `A hold has at most ${NOTES_MAX} notes.`, {
          extra: { limit: NOTES_MAX, resource: 'compliance_note' },
        })
      await this.#trail(tx, hold, by, 'noted', null, { text })
    })
  }

  async #end(
    tx: ApprovalTx,
    hold: ComplianceHoldRecord,
    { decision, reason, freezeFunds, by }: Omit<HoldDecision, keyof Acting> & Pick<Acting, 'by'>,
  ): Promise<() => void> {
    const subject = this.#options.subjects[hold.subjectType]
    if (subject === undefined) throw new Error(`Nothing is known of holds of ${hold.subjectType}.`)
    const { effects = {}, after = () => undefined } = await subject.decided(tx, hold, decision, { freezeFunds })
    await decideComplianceHold(tx.client, hold.id, { decision, reason, freezeFunds, by: by.actor, now: tx.now })
    const told = complianceHoldEvent(hold, { id: tx.ids.next(), status: decision, at: tx.now })
    await writeEffects(tx, { ...effects, events: [...(effects.events ?? []), told] })
    await this.#trail(
      tx,
      hold,
      by,
      decision,
      { status: hold.status, proposal: hold.proposal },
      { status: decision, reason, freezeFunds },
    )
    return after
  }

  /** Writes the operator's trail; the customer's trail must not mention holds. */
  async #trail(
    tx: ApprovalTx,
    hold: ComplianceHoldRecord,
    by: AuditBy,
    verb: AuditVerb<'compliance_hold'>,
    before: object | null,
    after: object,
  ): Promise<void> {
    const about = { subjectType: hold.subjectType, subjectId: hold.subjectId, customerId: hold.customerId }
    await writeAudit(tx.client, {
      ...by,
      id: tx.ids.next(),
      tenantId: hold.operatorId,
      at: tx.now,
      action: `compliance_hold.${verb}`,
      object: { type: 'compliance_hold', id: hold.id },
      before,
      after: { ...after, ...about },
    })
  }

  async #poll(): Promise<void> {
    const { database, clock, shards, onError } = this.#options
    for (const id of await dueComplianceHolds(database, { now: clock.now(), owned: shards.owned(), max: DUE_MAX })) {
      await decideInTransaction(this.#options, async (tx, afterwards) => {
        const hold = await lockComplianceHold(tx.client, id)
        if (hold === null || hold.status !== 'open' || hold.sandboxDecision === null) return
        const by: AuditBy = { ...SYSTEM, actor: { type: 'system', ...SANDBOX_REVIEWER } }
        afterwards.push(
          await this.#end(tx, hold, {
            decision: hold.sandboxDecision,
            reason: 'Decided by the sandbox.',
            freezeFunds: false,
            by,
          }),
        )
      }).catch((error: unknown) => onError(error, `hold ${id}`))
    }
  }
}

async function lockOf(
  { client }: ApprovalTx,
  { holdId, operatorId }: Pick<Acting, 'holdId' | 'operatorId'>,
): Promise<ComplianceHoldRecord> {
  const hold = await lockComplianceHold(client, holdId)
  if (hold === null || hold.operatorId !== operatorId) refuse('not-found', 'No such hold exists in this tenant.')
  return hold
}

async function lockOpen(tx: ApprovalTx, acting: Pick<Acting, 'holdId' | 'operatorId'>): Promise<ComplianceHoldRecord> {
  const hold = await lockOf(tx, acting)
  if (hold.status !== 'open') refuseTransition(`The hold is ${hold.status}.`, hold.status, ['open'])
  return hold
}

/** Checks whether another person has proposed the same decision before. */
function isConfirmation({ proposal }: ComplianceHoldRecord, { decision, freezeFunds, by }: HoldDecision): boolean {
  return (
    proposal !== null &&
    proposal.by !== by.actor.id &&
    proposal.decision === decision &&
    proposal.freezeFunds === freezeFunds
  )
}
