/** Direct debits that creditors collect from balances, and the customer's decisions on them. */
import { page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import type { ReadServices } from '../route/services.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { PageOf } from '../../lib/contract/page.ts'
import { SimulationResult } from '../../lib/contract/simulation.ts'
import {
  IncomingDebit,
  incomingDebitList,
  IncomingDebitRefund,
  IncomingDebitRefusal,
  SimIncomingDebit,
} from '../../lib/incoming-debits/incoming-debit-schema.ts'

const shared = {
  tag: 'payments',
  callers: 'key',
  tenant: 'customer',
  feature: 'payments.direct_debits',
} as const

const exists = async (
  tenant: Tenant,
  { incomingDebitId }: { readonly incomingDebitId: string },
  { incomingDebits }: ReadServices,
) => (await incomingDebits.getIncomingDebit(tenant, incomingDebitId)) !== null

export const listIncomingDebits = route({
  ...shared,
  method: 'get',
  path: '/incoming-debits',
  operationId: 'listIncomingDebits',
  summary: 'List incoming debits',
  scope: 'payments:read',
  idempotency: 'none',
  list: incomingDebitList,
  success: {
    status: 200,
    description: 'A page of incoming debits.',
    schema: PageOf('IncomingDebitPage', IncomingDebit),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { incomingDebits }) => page(list, await incomingDebits.listIncomingDebits(list)),
})

export const getIncomingDebit = route({
  ...shared,
  method: 'get',
  path: '/incoming-debits/{incomingDebitId}',
  operationId: 'getIncomingDebit',
  summary: 'Read an incoming debit',
  scope: 'payments:read',
  idempotency: 'none',
  success: { status: 200, description: 'The incoming debit.', schema: IncomingDebit, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { incomingDebits }) =>
    resource(await incomingDebits.getIncomingDebit(tenant, params.incomingDebitId)),
})

export const refuseIncomingDebit = route({
  ...shared,
  method: 'post',
  path: '/incoming-debits/{incomingDebitId}/refuse',
  operationId: 'refuseIncomingDebit',
  summary: 'Refuse an incoming debit',
  description:
    'Until its due date begins. The bank is told with the code MS02. `cancelMandate` also ends the mandate, whose ' +
    'later debits are then refused.',
  scope: 'payments:write',
  idempotency: 'optional',
  body: IncomingDebitRefusal,
  bodyOptional: true,
  exists,
  success: { status: 200, description: 'The debit as it is now.', schema: IncomingDebit, etag: true },
  problems: ['not-found', 'invalid-transition'],
  handle: ({ caller, params, command }, { incomingDebits }) =>
    incomingDebits.refuse(caller, params.incomingDebitId, command),
})

export const confirmIncomingDebit = route({
  ...shared,
  method: 'post',
  path: '/incoming-debits/{incomingDebitId}/confirm',
  operationId: 'confirmIncomingDebit',
  money: 'pay',
  summary: 'Confirm the mandate of an incoming debit',
  description:
    'The first debit of a mandate of `sepa_dd_b2b` waits until the customer confirms the mandate, at the latest at ' +
    'the end of the due date. All debits that wait for the same mandate go on.',
  scope: 'payments:write',
  stepUp: { action: 'payment.above_threshold' },
  idempotency: 'optional',
  limits: ['money'],
  exists,
  success: { status: 200, description: 'The debit as it is now.', schema: IncomingDebit, etag: true },
  problems: ['not-found', 'invalid-transition'],
  handle: ({ caller, params, command }, { incomingDebits }) =>
    incomingDebits.confirm(caller, params.incomingDebitId, command),
})

export const refundIncomingDebit = route({
  ...shared,
  method: 'post',
  path: '/incoming-debits/{incomingDebitId}/refund',
  operationId: 'refundIncomingDebit',
  summary: 'Have an incoming debit refunded',
  description:
    'The amount is credited at once. `MD06`: an authorised debit, eight weeks long, of `sepa_dd_core` alone; under ' +
    'the guarantee of `bacs_dd` without an end. `MD01`: a debit without a mandate, thirteen months long for ' +
    '`sepa_dd_core`. `refundableUntil` and `unauthorisedRefundUntil` of the debit tell when the time ends.',
  scope: 'payments:write',
  idempotency: 'optional',
  body: IncomingDebitRefund,
  exists,
  success: { status: 200, description: 'The debit as it is now.', schema: IncomingDebit, etag: true },
  problems: ['not-found', 'invalid-transition'],
  handle: ({ caller, params, command }, { incomingDebits }) =>
    incomingDebits.refund(caller, params.incomingDebitId, command),
})

export const simulateIncomingDebit = route({
  method: 'post',
  path: '/simulations/incoming-debits',
  operationId: 'simulateIncomingDebit',
  tag: 'simulations',
  summary: 'Simulate a collection from a balance',
  description:
    'The sandbox bank announces the debit within a second. `details.incomingDebitRef` is the id of the incoming ' +
    'debit. A debit whose due date is today is taken or refused at once.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  sandbox: 'simulation',
  idempotency: 'optional',
  limits: ['simulate'],
  body: SimIncomingDebit,
  success: {
    status: 202,
    description: 'The sandbox bank announces the debit within a second.',
    schema: SimulationResult,
  },
  problems: ['simulation-not-possible'],
  handle: async ({ caller, body, command }, { incomingDebits }) =>
    await incomingDebits.simulateDebit(caller, body, command.idempotency),
})
