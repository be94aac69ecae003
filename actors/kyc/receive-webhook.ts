/** Takes webhooks of KYC providers: verifies them and keeps them. They are used when the answer has left. */
import { createHash } from 'node:crypto'
import { refuse } from '../../lib/base/problems.ts'
import { KYC_ADAPTERS } from '../../lib/kyc/adapters.ts'
import { webhookSecretContext, type KycConnection } from '../../lib/kyc/connection.ts'
import type { SignedBody } from '../../lib/security/signed-body.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { findKycConnection } from '../../storage/kyc/kyc-connections.ts'
import { keepKycEvent } from '../../storage/kyc/kyc-events.ts'
import type { KycDeps } from './kyc-deps.ts'

/** The type of an event that cannot be read. */
const UNREADABLE = 'unreadable'

/**
 * Verifies a webhook and keeps it; one that was kept before changes nothing.
 *
 * @throws ProblemError `unauthenticated`, whatever is wrong: a sender without the secret learns nothing
 */
export async function receiveWebhook(
  deps: Pick<KycDeps, 'database' | 'ids' | 'clock' | 'secrets'>,
  connectionId: string,
  request: SignedBody,
): Promise<void> {
  const { database, ids, clock } = deps
  const now = clock.now()
  const connection = await findKycConnection(database.pool, connectionId)
  const webhooks = connection === null ? null : KYC_ADAPTERS[connection.provider].webhooks
  const secret = connection === null ? null : secretOf(deps, connection)
  if (connection === null || webhooks === null || secret === null || !webhooks.isSigned(request, secret, now))
    refuse('unauthenticated', 'The signature of the webhook is missing, wrong or too old.')
  const message = webhooks.translate(request.bytes)
  await inTransaction(database, (client) =>
    keepKycEvent(client, {
      id: ids.next(),
      connectionId: connection.id,
      operatorId: connection.operatorId,
      providerEventId: message?.eventId ?? createHash('sha256').update(request.bytes).digest('hex'),
      type: message?.type ?? UNREADABLE,
      body: request.bytes,
      occurredAt: message?.occurredAt ?? null,
      receivedAt: now,
    }),
  )
}

function secretOf({ secrets }: Pick<KycDeps, 'secrets'>, { id, webhookSecret }: KycConnection): string | null {
  return webhookSecret === null ? null : secrets.open(webhookSecret, webhookSecretContext(id))
}
