/** Looks every minute at the cases whose requirements change by themselves, and tells their customers of the change. */
import { listDueCases } from '../../storage/onboarding/kyb-cases.ts'
import { runChange, type ChangeDeps } from '../commands/changes.ts'
import type { Task } from '../runtime/tasks.ts'
import { recheck } from './case-facts.ts'
import { lockedCase } from './move-case.ts'

/** The most cases of one run; the next run takes the others. */
const CASES_MAX = 500

export function requirementChecks(deps: ChangeDeps): Task {
  const { database, clock } = deps
  return {
    name: 'onboarding.requirements',
    cron: '* * * * *',
    async run() {
      for (const customerId of await listDueCases(database, clock.now(), CASES_MAX))
        await runChange(deps, async (tx) => {
          await lockedCase(tx.client, customerId)
          await recheck(tx, customerId)
        })
    },
  }
}
