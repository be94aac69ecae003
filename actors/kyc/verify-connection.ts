/** Tries the keys of a connection with its provider. */
import { refuse, refuseNotFound } from '../../lib/base/problems.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { KYC_ADAPTERS } from '../../lib/kyc/adapters.ts'
import { credentialsContext, statusAfterProbe, type KycConnection } from '../../lib/kyc/connection.ts'
import { levelsRequest, type SumsubKeys } from '../../lib/kyc/sumsub/sumsub-requests.ts'
import { changeKycConnection, lockKycConnections, readKycConnection } from '../../storage/kyc/kyc-connections.ts'
import { runChange } from '../commands/changes.ts'
import { recordConnection } from './change-connection.ts'
import type { KycDeps } from './kyc-deps.ts'
import { SumsubSilent } from './sumsub-client.ts'

/**
 * Tries the keys, and writes how it ended. The provider is called outside of the transaction.
 *
 * @throws ProblemError `not-found`; `precondition-failed` when the keys were replaced meanwhile
 */
export async function verifyConnection(deps: KycDeps, by: Caller<'person'>, id: string): Promise<KycConnection> {
  const operatorId = by.tenant.id
  const tried = (await readKycConnection(deps.database.pool, operatorId, id.toLowerCase())) ?? refuseNotFound()
  const fault = await faultOf(deps, tried)
  return await runChange(deps, async (tx) => {
    const { client, now } = tx
    const all = await lockKycConnections(client, operatorId)
    const before = all.find((each) => each.id === tried.id) ?? refuseNotFound()
    if (before.credentialsUpdatedAt !== tried.credentialsUpdatedAt)
      refuse('precondition-failed', 'The keys were replaced while they were being verified.')
    const ok = fault === null
    const after = await changeKycConnection(client, before, {
      status: statusAfterProbe(before.status, ok),
      probe: { ok, message: fault, at: now },
      ...(ok ? { verifiedAt: now } : {}),
      updatedBy: by.session.userId,
      updatedAt: now,
    })
    await recordConnection(tx, by, 'verified', before, after)
    return after
  })
}

/** Returns what is wrong with the keys of a connection, in words for staff; null for nothing. */
async function faultOf({ sumsub, clock, ...deps }: KycDeps, connection: KycConnection): Promise<string | null> {
  if (KYC_ADAPTERS[connection.provider].credentials.length === 0) return null
  const keys = keysOf(deps, connection)
  if (keys === null) return 'The connection has no keys.'
  try {
    const { status } = await sumsub.send(levelsRequest(keys, clock.now()))
    return status === 200 ? null : `The provider answered ${status}.`
  } catch (error) {
    if (error instanceof SumsubSilent) return 'The provider did not answer.'
    throw error
  }
}

/** Opens the keys of a connection; null when it has none, or they were sealed under another key of the service. */
export function keysOf({ secrets }: Pick<KycDeps, 'secrets'>, { id, credentials }: KycConnection): SumsubKeys | null {
  const text = credentials === null ? null : secrets.open(credentials, credentialsContext(id))
  return text === null ? null : (JSON.parse(text) as SumsubKeys)
}
