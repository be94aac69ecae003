/**
 * Looks every minute at the cases whose requirements change by themselves: tells their customers of the change, reminds
 * them of what falls due again, ends their capability to pay while something is past due, and asks staff to review.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { rolesWith } from '../../lib/identity/capabilities.ts'
import { checkCase } from '../../lib/onboarding/due-again.ts'
import type { DueAgain } from '../../lib/onboarding/requirement.ts'
import { requirementsOf } from '../../lib/onboarding/requirements.ts'
import { insertNotices, peopleInRoles } from '../../storage/notices/notices.ts'
import { listDueCases } from '../../storage/onboarding/kyb-cases.ts'
import { SYSTEM } from '../../storage/trail/trail.ts'
import { runChange, type ChangeTransaction } from '../commands/changes.ts'
import type { Task } from '../runtime/tasks.ts'
import { readWholeCase, recheck } from './case-facts.ts'
import { recordReview, type CaseReviewDeps } from './case-transaction.ts'
import { beginLapse, endLapse } from './lapse.ts'
import { applyMove, lockedCase, type LockedCase } from './move-case.ts'

/** The most cases of one run; the next run takes the others. */
const CASES_MAX = 500

const TOLD_ROLES = rolesWith('onboarding.write')

export function requirementChecks(deps: CaseReviewDeps): Task {
  const { database, clock } = deps
  return {
    name: 'onboarding.requirements',
    cron: '* * * * *',
    async run() {
      for (const customerId of await listDueCases(database, clock.now(), CASES_MAX)) {
        const version = await runChange(deps, async (tx) => {
          const locked = await lockedCase(tx.client, customerId)
          const { checkDueAt } = locked.record
          // Another node may have looked at it meanwhile.
          if (checkDueAt === null || checkDueAt > tx.now) return null
          const changed = await look(tx, locked, checkDueAt)
          await recheck(tx, customerId, { looked: true })
          return changed
        })
        if (version !== null) await deps.announce(customerId, version)
      }
    },
  }
}

/** @returns the customer's version, where its standing has changed */
async function look(tx: ChangeTransaction, locked: LockedCase, since: number): Promise<bigint | null> {
  const { client, now } = tx
  const { customerId, nextReviewAt } = locked.record
  const found = (await readWholeCase(client, customerId)) ?? refuseNotFound()
  const { remind, lapse, review } = checkCase(found, { since, now })
  for (const due of remind) await tell(tx, locked, reminderOf(due))
  let moved = locked
  if (review) {
    moved = await applyMove(tx, SYSTEM, locked, 'review_again')
    await recordReview(tx, SYSTEM, locked, 'kyb_case.review_due', { after: { nextReviewAt } })
  }
  if (lapse === 'ends') return await endLapse(tx, SYSTEM, moved)
  if (lapse === null) return null
  const { pastDue } = requirementsOf(found, now)
  await tell(tx, locked, LAPSED[pastDue.some(({ kind }) => kind === 'document') ? 'documents' : 'statements'])
  const pointers = pastDue.map(({ pointer }) => pointer)
  return await beginLapse(tx, SYSTEM, locked, pointers)
}

interface Told {
  readonly title: string
  readonly text: string
}

const CANNOT_PAY = 'You cannot make payments at present'
const LAPSED: Readonly<Record<DueAgain['kind'], Told>> = {
  statements: {
    title: CANNOT_PAY,
    text: 'Your details were not confirmed in time. Open your profile, check what is stated there and confirm it.',
  },
  documents: {
    title: CANNOT_PAY,
    text: 'Documents have expired. Open your profile, upload new ones and confirm what else is due there.',
  },
}

function reminderOf({ kind, dueAt }: DueAgain): Told {
  const day = timestamp(dueAt).slice(0, 10)
  const after = 'Afterwards you cannot make payments until you have.'
  return kind === 'statements'
    ? {
        title: `Please confirm your details by ${day}`,
        text: `Open your profile, check what is stated there and confirm it by ${day}. ${after}`,
      }
    : {
        title: `Please upload new documents by ${day}`,
        text: `Documents expire on ${day}. Open your profile and upload new ones by then. ${after}`,
      }
}

async function tell({ client, ids, now }: ChangeTransaction, { record }: LockedCase, told: Told): Promise<void> {
  const { id, customerId } = record
  const people = await peopleInRoles(client, customerId, TOLD_ROLES)
  const notice = { tenantId: customerId, type: 'kyb_review_due' as const, ...told, object: { type: 'kyb_case', id } }
  await insertNotices(client, ids, people, notice, now)
}
