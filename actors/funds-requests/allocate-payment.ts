/** Counts an incoming payment without the request's reference towards a funds request. */
import { fundsRequestAt, invalidTransition } from '../../lib/funds-requests/funds-request.ts'
import { ProblemError, refuseField, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import * as rows from '../../storage/funds-requests/funds-requests.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ArrivalAllocation, FundsRequest } from '../../lib/funds-requests/funds-request-schema.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import { decideOnce } from '../commands/run-once.ts'
import { keptView, withLink } from './funds-request-view.ts'
import { recordRequestChange, rereadRequest, state, type FundsRequestCommandDeps } from './funds-request-changes.ts'

/**
 * Counts a received payment towards a waiting request of the same balance.
 *
 * @throws ProblemError `not-found`, `validation-error`, `invalid-transition`
 */
export async function allocatePayment(
  deps: FundsRequestCommandDeps,
  by: Caller,
  incomingPaymentId: string,
  command: Pick<Command<ArrivalAllocation>, 'body' | 'idempotency'>,
): Promise<CommandAnswer<FundsRequest, 200>> {
  const id = command.body.fundsRequestId
  const answer = await decideOnce(deps, command, 200, async (client) => {
    const tx = { client, ids: deps.ids, now: deps.clock.now() }
    // Incoming payments are locked before requests, the same order as where payments are matched by their
    // reference.
    const arrival = (await rows.lockArrival(tx.client, by.tenant.id, incomingPaymentId)) ?? refuseNotFound()
    const request = await rows.lockFundsRequest(tx.client, by.tenant.id, id)
    if (request === null) refuseField('/fundsRequestId', 'not_found', 'No such funds request.')
    if (arrival.currency !== request.currency)
      refuseField('/fundsRequestId', 'currency_mismatch', `The funds request is in ${request.currency}.`)
    if (arrival.balanceId !== request.balanceId)
      refuseField('/fundsRequestId', 'not_applicable', 'The funds request is for another balance.')
    if (arrival.status !== 'received' || arrival.fundsRequestId !== null) {
      const detail =
        arrival.status === 'received'
          ? 'The payment counts towards a funds request already.'
          : `The payment is ${arrival.status}.`
      refuseTransition(detail, arrival.status, ['received'])
    }
    const current = fundsRequestAt(request, tx.now)
    if (!(await rows.countArrival(tx, current, arrival)))
      throw new ProblemError(invalidTransition(current.status, 'pay'))
    const after = await rereadRequest(tx, id)
    await recordRequestChange(tx, auditCaller(by), 'allocated', by.tenant.id, id, state(request), {
      ...state(after),
      incomingPaymentId,
    })
    return { shown: await keptView(deps.links, client, after) }
  })
  return withLink(deps.links, answer)
}
