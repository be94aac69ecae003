/** The form of a mandate. */
import { document } from '../route/answer.ts'
import { route } from '../route/route.ts'

export const getMandateDocument = route({
  method: 'get',
  path: '/mandates/{mandateId}/document',
  operationId: 'getMandateDocument',
  tag: 'payments',
  summary: 'Download the form of a mandate',
  description:
    'A PDF in the words that the scheme prescribes, to be signed and kept by the payer; a signed mandate shows the day. Rendered on the first request for a version ' +
    'of the mandate; only that request counts against the limit of exports.',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  feature: 'payments.direct_debits',
  idempotency: 'none',
  success: { status: 200, description: 'The form.', contentType: 'application/pdf', etag: true },
  problems: ['not-found'],
  handle: async ({ tenant, params }, { debitOrders, limitRendering }) => {
    const found = await debitOrders.documents.ofMandate(tenant, params.mandateId, limitRendering)
    return document(found, found === null ? '' : `mandate-${found.number.replaceAll(/[^A-Za-z0-9-]/g, '_')}.pdf`)
  },
})
