/** Money that came in, and how to let it come. */
import { page, resource } from '../answer.ts'
import { route } from '../route.ts'
import { AddMoney, AddMoneyResult, IncomingPayment, incomingPaymentList } from '../schemas/incoming-payment.ts'
import { PageOf } from '../schemas/page.ts'

export const listIncomingPayments = route({
  method: 'get',
  path: '/incoming-payments',
  operationId: 'listIncomingPayments',
  tag: 'payments',
  summary: 'List incoming payments',
  callers: 'key',
  scope: 'transactions:read',
  tenant: 'customer',
  idempotency: 'none',
  list: incomingPaymentList,
  success: { status: 200, description: 'A page of incoming payments.', schema: PageOf('IncomingPaymentPage', IncomingPayment), etag: true },
  problems: [],
  handle: async ({ list }, { queries }) => page(list, await queries.listIncomingPayments(list)),
})

export const getIncomingPayment = route({
  method: 'get',
  path: '/incoming-payments/{incomingPaymentId}',
  operationId: 'getIncomingPayment',
  tag: 'payments',
  summary: 'Read an incoming payment',
  callers: 'key',
  scope: 'transactions:read',
  tenant: 'customer',
  idempotency: 'none',
  success: { status: 200, description: 'The incoming payment.', schema: IncomingPayment, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { queries }) => resource(await queries.getIncomingPayment(tenant, params.incomingPaymentId)),
})

export const addMoney = route({
  method: 'post',
  path: '/add-money',
  operationId: 'addMoney',
  tag: 'payments',
  summary: 'Add money to a balance',
  description: 'By bank transfer: the answer says where to send it. Conversions are not available yet.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  idempotency: 'required',
  limits: ['money'],
  body: AddMoney,
  success: { status: 200, description: 'How to go on.', schema: AddMoneyResult },
  problems: ['not-implemented'],
  handle: async ({ body, idempotency, tenant, principal, session, source, requestId }, { incomingCommands }) =>
    await incomingCommands.addMoney({ tenant, principal, session, source, requestId }, body, idempotency),
})
