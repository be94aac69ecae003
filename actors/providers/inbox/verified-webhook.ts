/** Judges the signatures of requests that providers send. */
import { refuse } from '../../../lib/base/problems.ts'
import { hmacFits, type SignedBody } from '../../../lib/security/signed-body.ts'
import type { Verification } from '../adapters/adapter.ts'
import { ConnectionUnusable } from '../open-connections.ts'
import type { InboxConnection, InboxPartners } from './inbox-ports.ts'

/** The time after which a provider may repeat a webhook, seconds: staff have to set the secrets of the connection. */
const REPEAT_S = 300

/** Stands for the secret and the signature where there are none, so that a refusal takes the time of a wrong signature. */
const DECOY = Buffer.alloc(32)

/**
 * Opens the connection that a request names, and judges the request's signature by it.
 *
 * @param now epoch milliseconds
 * @throws ProblemError `service-unavailable` while the connection cannot be opened, so that its provider repeats the request
 */
export async function openVerified(
  partners: Pick<InboxPartners, 'open'>,
  connectionId: string,
  request: SignedBody,
  now: number,
): Promise<{ readonly connection: InboxConnection | null; readonly verification: Verification }> {
  const connection = await partners.open(connectionId).catch((error: unknown) => {
    if (!(error instanceof ConnectionUnusable)) throw error
    refuse('service-unavailable', 'The connection takes no webhooks at present.', { retryAfterSeconds: REPEAT_S })
  })
  return { connection, verification: verified(connection, request, now) }
}

function verified(connection: InboxConnection | null, request: SignedBody, now: number): Verification {
  const secret = connection?.webhookSecret ?? null
  if (connection?.adapter.verify === undefined || secret === null) {
    hmacFits('sha256', DECOY, [request.bytes], DECOY)
    return { valid: false, reason: 'There is no such connection, or it has no secret.' }
  }
  return connection.adapter.verify(request, secret, now)
}
