/** Messages of the issuers of cards. */
import { CardIssuerMessage } from '../../lib/cards/card-schema.ts'
import type { SignedBody } from '../../lib/security/signed-body.ts'
import { expected } from '../route/answer.ts'
import { route } from '../route/route.ts'

/** Messages have a few kilobytes. */
const MESSAGE_BYTES_MAX = 64 * 1024

export const receiveCardMessage = route({
  method: 'post',
  path: '/card-messages/{connectionId}',
  operationId: 'receiveCardMessage',
  tag: 'providers',
  summary: 'Take a message of an issuer of cards',
  description:
    'For the issuer of the connection, which signs the body in its own way and gets an answer of its own form. ' +
    '`sandbox`: the headers of Standard Webhooks, not older than five minutes; answered by 200 with `approved`, ' +
    '`declineReason`, `cardTransactionId` and `misfit`. A question is answered within 1.5 s; what is not decided by then ' +
    'is declined as `system_error`. A message that is sent again gets the same answer.',
  callers: 'public',
  scope: null,
  tenant: 'none',
  idempotency: 'none',
  limits: ['partner-webhook'],
  signedBody: { bytesMax: MESSAGE_BYTES_MAX, schema: CardIssuerMessage },
  success: { status: 202, description: 'The message was taken, and the answer is in the words of the issuer.' },
  problems: [],
  handle: async ({ params, signed }, { cards }) =>
    expected(202, await cards.receive(params.connectionId, signed as SignedBody)),
})
