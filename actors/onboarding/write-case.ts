/** The frame of every change of what a case declares: locks, the first change, and the view afterwards. */
import { ProblemError, type FieldError } from '../../lib/base/problems.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { caseLocked } from '../../lib/onboarding/case-moves.ts'
import { isCountry } from '../../lib/recipients/iban.ts'
import { changeCase } from '../../storage/onboarding/kyb-cases.ts'
import { beginOnboardingOf } from '../customers/begin-onboarding.ts'
import { runChange, type ChangeTransaction } from '../commands/changes.ts'
import { auditCaller } from '../commands/trail.ts'
import { recheck, type WholeCase } from './case-facts.ts'
import { lockedCase, type LockedCase } from './move-case.ts'
import type { OnboardingDeps } from './onboarding-deps.ts'

/** Whether a person belongs to the operator's staff. */
export const isStaff = (by: Caller<'person'>): boolean => auditCaller(by).actor.type === 'staff'

/**
 * Runs a change of what a case declares. The first change of a member begins the onboarding of a draft customer; a case
 * that staff begin in place of the customer has the mode `operator`.
 *
 * @param renewal whether the change is one that an approved case takes, too
 * @returns the result of the work, and the whole case after it
 * @throws ProblemError `not-found`, `invalid-transition`, and what the work throws
 */
export async function writeCase<Result>(
  deps: OnboardingDeps,
  by: Caller<'person'>,
  customerId: string,
  { renewal }: { readonly renewal: boolean },
  work: (tx: ChangeTransaction, locked: LockedCase) => Promise<Result>,
): Promise<{ readonly result: Result; readonly after: WholeCase; readonly now: number }> {
  return await runChange(deps, async (tx) => {
    const locked = await lockedCase(tx.client, customerId)
    const { record, customer } = locked
    const problem = caseLocked(record.status, { renewal })
    if (problem !== null) throw new ProblemError(problem)
    const result = await work(tx, locked)
    if (customer.status === 'draft')
      if (!isStaff(by)) await beginOnboardingOf(tx, customerId, auditCaller(by))
      else if (record.mode === 'wizard') await changeCase(tx.client, record, { mode: 'operator' })
    return { result, after: await recheck(tx, customerId), now: tx.now }
  })
}

/** Finds texts that are codes of no country, by their fields. */
export function countryFaults(codes: Readonly<Record<string, string | null | undefined>>): FieldError[] {
  return Object.entries(codes).flatMap(([field, code]) =>
    code == null || isCountry(code) ? [] : [{ field, code: 'invalid_value', message: 'Is no country of ISO 3166.' }],
  )
}

/** Finds days that have not come yet, by their fields. */
export function futureFaults(days: Readonly<Record<string, string | null | undefined>>, now: number): FieldError[] {
  return Object.entries(days).flatMap(([field, day]) =>
    day == null || day <= timestamp(now).slice(0, 10)
      ? []
      : [{ field, code: 'invalid_value', message: 'Must not be in the future.' }],
  )
}
