/** Declines a funds request for the payer, who has the token of its link. */
import { hash } from 'node:crypto'
import * as rows from '../../storage/funds-requests/funds-requests.ts'
import { SYSTEM } from '../../storage/trail/trail.ts'
import * as reads from '../../storage/funds-requests/funds-request-queries.ts'
import type { PublicFundsRequest } from '../../lib/funds-requests/funds-request-schema.ts'
import { runChange } from '../commands/changes.ts'
import { payerView } from './funds-request-view.ts'
import { moveRequest, unknownLink, FEATURE, type FundsRequestCommandDeps } from './funds-request-changes.ts'

/**
 * Declines a waiting request.
 *
 * @throws ProblemError `not-found` for an unknown token, `invalid-transition`
 */
export async function declineFundsRequest(
  deps: FundsRequestCommandDeps,
  token: string,
  { address, requestId }: { readonly address: string; readonly requestId: string },
): Promise<PublicFundsRequest> {
  const { database } = deps
  const found = (await reads.findFundsRequestOfLink(database, hash('sha256', token, 'hex'))) ?? unknownLink()
  const { id, customerId } = found.record
  if (!(await deps.hasFeature(customerId, FEATURE))) unknownLink()
  const record = await runChange(deps, async (tx) => {
    const before = (await rows.lockAnyFundsRequest(tx.client, id)) ?? unknownLink()
    return await moveRequest(
      { ...SYSTEM, actor: { ...SYSTEM.actor, name: 'Payer' }, address, requestId },
      tx,
      before,
      'decline',
      'declined',
    )
  })
  return await payerView(database, { ...found, record })
}
