/** Cancellation of exchanges. */
import { route } from '../route/route.ts'
import { Exchange } from '../../lib/exchange/exchange-schema.ts'

export const cancelExchange = route({
  method: 'post',
  path: '/exchanges/{exchangeId}/cancel',
  operationId: 'cancelExchange',
  tag: 'payments',
  summary: 'Cancel an exchange',
  description:
    'An exchange can be cancelled while it waits for approval, and a forward while it waits for its first ' +
    'deposit. Its hold is released.',
  callers: 'key',
  scope: 'exchanges:write',
  tenant: 'customer',
  idempotency: 'optional',
  exists: async (tenant, { exchangeId }, { exchanges }) => (await exchanges.getExchange(tenant, exchangeId)) !== null,
  success: { status: 200, description: 'The cancelled exchange.', schema: Exchange },
  problems: ['not-cancellable'],
  handle: ({ params, command }, { contracts }) => contracts.cancelExchange(command, params.exchangeId),
})
