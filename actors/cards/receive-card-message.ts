/** Takes a message of an issuer over HTTP: verifies it, decides it, and answers in the issuer's own words. */
import type { Clock } from '../../lib/base/clock.ts'
import { refuse } from '../../lib/base/problems.ts'
import type { SignedBody } from '../../lib/security/signed-body.ts'
import type { WebhookAnswer } from '../providers/adapters/adapter.ts'
import type { InboxPartners } from '../providers/inbox/inbox-ports.ts'
import { openVerified } from '../providers/inbox/verified-webhook.ts'
import type { CardDecisions } from './card-decisions.ts'

/**
 * Takes a message and answers it.
 *
 * @throws ProblemError `unauthenticated`, whatever is wrong with the signature; `malformed-request` for a message that
 *   cannot be read; and what `CardDecisions` throws, so that the issuer repeats the message
 */
export async function receiveCardMessage(
  {
    partners,
    decisions,
    clock,
  }: { readonly partners: InboxPartners; readonly decisions: CardDecisions; readonly clock: Clock },
  connectionId: string,
  request: SignedBody,
): Promise<WebhookAnswer> {
  const receivedAt = clock.now()
  const { connection, verification } = await openVerified(partners, connectionId, request, receivedAt)
  const network = connection?.adapter.cards
  if (connection === null || network === undefined || !verification.valid)
    refuse('unauthenticated', 'The signature of the message is missing, wrong or too old.')
  const instruction = network.translate({ eventId: verification.eventId, body: request.bytes })
  if (instruction === null) refuse('malformed-request', 'The message is not one about a card.')
  const origin = { connectionId: connection.id, currency: instruction.currency }
  return network.answer(await decisions.decide(network, instruction, origin, receivedAt))
}
