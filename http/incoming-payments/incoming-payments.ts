/** Incoming payments, and adding money. */
import { page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { IncomingPayment, incomingPaymentList } from '../../lib/incoming-payments/incoming-payment-schema.ts'
import { AddMoney, AddMoneyResult } from '../../lib/accounts/add-money-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'

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
  success: {
    status: 200,
    description: 'A page of incoming payments.',
    schema: PageOf('IncomingPaymentPage', IncomingPayment),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { incomingPayments }) => page(list, await incomingPayments.listIncomingPayments(list)),
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
  handle: async ({ tenant, params }, { incomingPayments }) =>
    resource(await incomingPayments.getIncomingPayment(tenant, params.incomingPaymentId)),
})

export const addMoney = route({
  method: 'post',
  path: '/add-money',
  operationId: 'addMoney',
  money: 'prepare',
  tag: 'payments',
  summary: 'Add money to a balance',
  description:
    'By bank transfer: the answer names the account to pay to. By conversion: an amount of another balance ' +
    'is exchanged, at the rate of a quote or at the current rate, and is credited when the exchange has ' +
    'settled.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  idempotency: 'required',
  limits: ['money'],
  body: AddMoney,
  success: {
    status: 200,
    description: 'The next step: the account to pay to, or the exchange.',
    schema: AddMoneyResult,
  },
  problems: [
    'insufficient-funds',
    'quote-expired',
    'invalid-transition',
    'limit-exceeded',
    'limit-reached',
    'feature-disabled',
    'provider-error',
  ],
  handle: async ({ command }, { accounts }) => await accounts.addMoney(command),
})
