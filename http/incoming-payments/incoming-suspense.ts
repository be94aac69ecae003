/** Suspense items: incoming money without a known owner, which the operator's staff allocate or return. */
import { page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import {
  SuspenseAllocation,
  SuspenseItem,
  suspenseList,
  SuspenseReturn,
} from '../../lib/incoming-payments/incoming-payment-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'

const STAFF = {
  tag: 'payments',
  callers: 'staff',
  capability: 'operations.manage',
  scope: null,
  tenant: 'operator',
} as const

export const listIncomingSuspense = route({
  ...STAFF,
  idempotency: 'none',
  method: 'get',
  path: '/incoming-suspense',
  operationId: 'listIncomingSuspense',
  summary: 'List suspense items',
  description: 'By default open items.',
  list: suspenseList,
  success: {
    status: 200,
    description: 'A page of suspense items.',
    schema: PageOf('SuspensePage', SuspenseItem),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { incomingPayments }) => page(list, await incomingPayments.listSuspense(list)),
})

export const getIncomingSuspense = route({
  ...STAFF,
  idempotency: 'none',
  method: 'get',
  path: '/incoming-suspense/{itemId}',
  operationId: 'getIncomingSuspense',
  summary: 'Read a suspense item',
  success: { status: 200, description: 'The suspense item.', schema: SuspenseItem, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { incomingPayments }) =>
    resource(await incomingPayments.getSuspenseItem(tenant, params.itemId)),
})

export const allocateIncomingSuspense = route({
  ...STAFF,
  idempotency: 'optional',
  method: 'post',
  path: '/incoming-suspense/{itemId}/allocate',
  operationId: 'allocateIncomingSuspense',
  summary: 'Allocate a suspense item to a balance',
  description: 'The amount is credited to the balance as an incoming payment.',
  body: SuspenseAllocation,
  exists: async (tenant, { itemId }, { incomingPayments }) =>
    (await incomingPayments.getSuspenseItem(tenant, itemId)) !== null,
  success: { status: 200, description: 'The suspense item with the decision.', schema: SuspenseItem, etag: true },
  problems: ['not-found', 'invalid-transition'],
  handle: ({ caller, params, command }, { incomingPayments }) =>
    incomingPayments.allocate(caller, params.itemId, command),
})

export const returnIncomingSuspense = route({
  ...STAFF,
  idempotency: 'optional',
  method: 'post',
  path: '/incoming-suspense/{itemId}/return',
  operationId: 'returnIncomingSuspense',
  summary: 'Return a suspense item to its payer',
  body: SuspenseReturn,
  exists: async (tenant, { itemId }, { incomingPayments }) =>
    (await incomingPayments.getSuspenseItem(tenant, itemId)) !== null,
  success: { status: 200, description: 'The suspense item with the decision.', schema: SuspenseItem, etag: true },
  problems: ['not-found', 'invalid-transition'],
  handle: ({ caller, params, command }, { incomingPayments }) =>
    incomingPayments.giveBack(caller, params.itemId, command),
})
