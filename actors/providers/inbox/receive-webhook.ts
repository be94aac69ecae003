/** Takes webhooks of providers: verifies them and keeps them. They are used when the answer has left. */
import type { Clock } from '../../../lib/base/clock.ts'
import { refuse } from '../../../lib/base/problems.ts'
import { redactedHeaders } from '../../../lib/providers/provider-event.ts'
import type { SignedBody } from '../../../lib/security/signed-body.ts'
import type { WebhookAnswer } from '../adapters/adapter.ts'
import type { WebhookRegistrations } from '../connections/webhook-registrations.ts'
import type { EventKeeper } from './event-keeper.ts'
import type { InboxPartners } from './inbox-ports.ts'
import { openVerified } from './verified-webhook.ts'

/**
 * Verifies a webhook and keeps it; one that was kept before changes nothing.
 *
 * @returns the answer that the provider expects; null for the usual one
 * @throws ProblemError `unauthenticated`, whatever is wrong: a sender without the secret learns nothing;
 *   `service-unavailable` while the connection cannot be opened, so that its provider sends the webhook again
 */
export async function receiveWebhook(
  {
    partners,
    keeper,
    registrations,
    clock,
  }: {
    readonly partners: InboxPartners
    readonly keeper: EventKeeper
    readonly registrations: WebhookRegistrations
    readonly clock: Clock
  },
  connectionId: string,
  request: SignedBody,
): Promise<WebhookAnswer | null> {
  const now = clock.now()
  const { connection, verification } = await openVerified(partners, connectionId, request, now)
  if (connection !== null && connection.webhookSecret !== null) await registrations.note(connection, verification.valid)
  if (connection === null || !verification.valid)
    refuse('unauthenticated', 'The signature of the webhook is missing, wrong or too old.')
  await keeper.keep({
    connectionId: connection.id,
    operatorId: connection.operatorId,
    source: 'webhook',
    partnerEventId: verification.eventId,
    type: verification.type,
    headers: redactedHeaders(request.headers),
    body: request.bytes,
    verifiedBy: 'signature',
    occurredAt: null,
    receivedAt: now,
  })
  return verification.answer ?? null
}
