/** The confirmation of a payment. */
import { document } from '../route/answer.ts'
import { route } from '../route/route.ts'

export const getPaymentConfirmation = route({
  method: 'get',
  path: '/payments/{paymentId}/confirmation',
  operationId: 'getPaymentConfirmation',
  tag: 'payments',
  summary: 'Download the confirmation of a payment',
  description:
    'A PDF, rendered on the first request; only that request counts against the limit of exports. It exists once the payment has completed; a payment that is returned later gets a new ' +
    'confirmation that shows the return.',
  callers: 'key',
  scope: 'statements:read',
  tenant: 'customer',
  idempotency: 'none',
  success: { status: 200, description: 'The confirmation.', contentType: 'application/pdf', etag: true },
  problems: ['not-found', 'confirmation-not-available'],
  handle: async ({ tenant, params }, { confirmations, limitRendering }) => {
    const found = await confirmations.ofPayment(tenant, params.paymentId, limitRendering)
    return document(found, found === null ? '' : `payment-${found.number}.pdf`)
  },
})
