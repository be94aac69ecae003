/** Requests a statement. */
import type { StatementJobRequest } from './statement-job.ts'
import { hasSandboxToken } from '../../lib/sandbox/triggers.ts'
import { DAY_MS, dateIn } from '../../lib/base/clock.ts'
import { FAIL_CODE } from '../../lib/jobs/job.ts'
import { refuseField } from '../../lib/base/problems.ts'
import { STATEMENT_DAYS_MAX, STATEMENT_FORMATS } from '../../lib/statements/statement.ts'
import { auditCaller } from '../commands/trail.ts'
import { recordChange } from '../commands/changes.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { createJobView } from '../jobs/job-operations.ts'
import { decideOnce } from '../commands/run-once.ts'
import type { StatementRequest } from '../../lib/statements/statement-schema.ts'
import type { Job } from '../../lib/jobs/job-schema.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import { balanceOf, insertStatementJob, type StatementDeps } from './insert-statement-job.ts'

/** Checks that a period can have a statement. @throws ProblemError when it cannot */
function checkPeriod({ from, to }: Pick<StatementRequest, 'from' | 'to'>, now: number): void {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (to > dateIn(now, 'UTC')) refuseField('/to', 'too_far_ahead', 'Lies in the future.')
  if (days < 1) refuseField('/from', 'invalid_value', 'Must not be after the end of the period.')
  if (days > STATEMENT_DAYS_MAX)
    refuseField('/from', 'too_large', `A statement covers at most ${STATEMENT_DAYS_MAX} days.`, {
      max: STATEMENT_DAYS_MAX,
    })
}

/**
 * Requests the statement of a period; an equal request that has not ended answers with its job.
 *
 * @throws ProblemError `not-found`, `validation-error`, and what `decideOnce` throws
 */
export async function requestStatement(
  deps: StatementDeps,
  by: Caller,
  command: Command<StatementRequest>,
  balanceId: string,
): Promise<CommandAnswer<Job, 202>> {
  const { clock, ids, sandbox } = deps
  const { body } = command
  const balance = await balanceOf(deps, by, balanceId)
  return await decideOnce(deps, command, 202, async (client) => {
    const now = clock.now()
    checkPeriod(body, now)
    const fails = sandbox && body.language !== undefined && hasSandboxToken(body.language, FAIL_CODE)
    if (body.language !== undefined && !fails && !/^en(-[A-Za-z]{2})?$/.test(body.language)) {
      refuseField('/language', 'invalid_value', 'Statements are available in English only.')
    }
    const formats = STATEMENT_FORMATS.filter((format) => body.formats.includes(format))
    const request: StatementJobRequest = { balanceId, kind: 'custom', from: body.from, to: body.to, formats, fails }
    const id = ids.next()
    const job = await insertStatementJob(client, by, balance, { id, request, now })
    if (job.id === id) {
      await recordChange({ client, ids, now }, auditCaller(by), by.tenant.id, {
        action: 'statement.requested',
        object: { type: 'balance', id: balanceId },
        before: null,
        after: { jobId: id, from: body.from, to: body.to, formats },
      })
    }
    return { shown: createJobView(deps)(job), made: { type: 'job', id: job.id } }
  })
}
