/** The requests that the service sends to integrators’ endpoints, in the OpenAPI document. */
import { WebhookEnvelope } from '../../lib/webhooks/webhook-schema.ts'
import { collect, type Json } from './openapi-components.ts'

/** Describes the requests that the service sends to integrators' endpoints. */
export function callbacks(schemas: Json): Json {
  const sent = (name: string, description: string, required = true): Json => ({
    name,
    in: 'header',
    required,
    description,
    schema: { type: 'string' },
  })
  return {
    event: {
      post: {
        operationId: 'receiveEvent',
        tags: ['public-api'],
        summary: 'An event, sent to every endpoint that subscribes to its type',
        description:
          'Verify the signature over the raw body, refuse timestamps more than five minutes off, and remember event ids: ' +
          'the same event may come more than once.',
        security: [],
        parameters: [
          sent('Service-Event-Id', 'Id of the event; the same for every delivery of the event.'),
          sent('Service-Event-Type', 'Type of the event.'),
          sent('Service-Timestamp', 'The time of signing, in seconds since 1970.'),
          sent(
            'Service-Signature',
            '`v1=` and the hexadecimal HMAC-SHA256 of `<timestamp>.<raw body>` under the secret; ' +
              'two signatures, separated by a comma, while the secret is being replaced.',
          ),
          sent('Service-Test', '`true` on test events.', false),
          sent('webhook-id', 'The header of the same name in Standard Webhooks.'),
          sent('webhook-timestamp', 'The header of the same name in Standard Webhooks.'),
          sent('webhook-signature', 'The header of the same name in Standard Webhooks.'),
        ],
        requestBody: { required: true, content: { 'application/json': { schema: collect(WebhookEnvelope, schemas) } } },
        responses: {
          '2XX': {
            description:
              'The event was received and is not sent again. Any other answer, or no answer within ten seconds, causes a retry.',
          },
          '4XX': { description: 'The event was not accepted and is sent again.' },
        },
      },
    },
  }
}
