/** The controls that a payer sets for the direct debits of a balance. */
import { resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { DebitControls, DebitControlsWrite } from '../../lib/incoming-debits/incoming-debit-schema.ts'

const shared = {
  tag: 'accounts',
  callers: 'session',
  scope: null,
  capability: 'balances.manage',
  tenant: 'customer',
  feature: 'payments.direct_debits',
  idempotency: 'none',
  path: '/balances/{balanceId}/debit-controls',
  problems: [],
} as const

export const getDebitControls = route({
  ...shared,
  method: 'get',
  operationId: 'getDebitControls',
  summary: 'Read the controls of a balance for direct debits',
  success: { status: 200, description: 'The controls.', schema: DebitControls, etag: true },
  handle: async ({ tenant, params }, { incomingDebits }) =>
    resource(await incomingDebits.getDebitControls(tenant, params.balanceId)),
})

export const updateDebitControls = route({
  ...shared,
  method: 'put',
  operationId: 'updateDebitControls',
  summary: 'Change the controls of a balance for direct debits',
  description:
    'Debits that the controls do not let through are refused with the code SL01. They apply to debits that are ' +
    'announced already, too.',
  stepUp: { action: 'settings.change' },
  ifMatch: true,
  current: async ({ tenant, params }, { incomingDebits }) =>
    tenant === null ? null : await incomingDebits.getDebitControls(tenant, params.balanceId),
  body: DebitControlsWrite,
  success: { status: 200, description: 'The controls as they are now.', schema: DebitControls, etag: true },
  handle: async ({ caller, params, body, expectedVersion }, { incomingDebits }) =>
    resource(await incomingDebits.updateControls(caller, params.balanceId, body, expectedVersion)),
})
