/** The confirmation of an exchange. */
import { document } from '../route/answer.ts'
import { route } from '../route/route.ts'

export const getExchangeConfirmation = route({
  method: 'get',
  path: '/exchanges/{exchangeId}/confirmation',
  operationId: 'getExchangeConfirmation',
  tag: 'payments',
  summary: 'Download the confirmation of an exchange',
  description:
    'A PDF, rendered on the first request; only that request counts against the limit of exports. It exists once the exchange has completed.',
  callers: 'key',
  scope: 'statements:read',
  tenant: 'customer',
  idempotency: 'none',
  success: { status: 200, description: 'The confirmation.', contentType: 'application/pdf', etag: true },
  problems: ['not-found', 'confirmation-not-available'],
  handle: async ({ tenant, params }, { confirmations, limitRendering }) => {
    const found = await confirmations.ofExchange(tenant, params.exchangeId, limitRendering)
    return document(found, found === null ? '' : `exchange-${found.number}.pdf`)
  },
})
