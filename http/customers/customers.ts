/** Customers: made, listed and steered by their operator. */
import { refuseNotFound } from '../../lib/base/problems.ts'
import { PageOf } from '../../lib/contract/page.ts'
import {
  Customer,
  CustomerCreate,
  customerList,
  CustomerMeasure,
  CustomerRisk,
  CustomerUpdate,
  OwnerInvitation,
} from '../../lib/customers/customer-schema.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import type { ReadServices } from '../route/services.ts'

type Params = { readonly customerId: string }

/** @throws ProblemError `not-found` for a customer that the tenant does not reach */
async function reach(tenant: Tenant, { customerId }: Params, { customers }: ReadServices): Promise<string> {
  if (!(await customers.reaches(tenant, customerId))) refuseNotFound()
  return customerId
}

const exists = (tenant: Tenant, { customerId }: Params, { customers }: ReadServices): Promise<boolean> =>
  customers.reaches(tenant, customerId)

export const listCustomers = route({
  method: 'get',
  path: '/customers',
  operationId: 'listCustomers',
  tag: 'tenants',
  summary: 'List customers',
  callers: 'key',
  scope: 'customers:read',
  tenant: 'operator',
  idempotency: 'none',
  list: customerList,
  success: {
    status: 200,
    description: 'A page of customers.',
    schema: PageOf('CustomerPage', Customer),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { customers }) => page(list, await customers.listCustomers(list)),
})

export const createCustomer = route({
  method: 'post',
  path: '/customers',
  operationId: 'createCustomer',
  tag: 'tenants',
  summary: 'Create a customer',
  description:
    'The customer is a draft: it has no balances, and cannot use money before it is approved. `primaryOwner` is ' +
    'invited by mail as its first owner. API keys must name one, at a domain of `apiKeyInvitationDomains` of the ' +
    "operator's settings; staff may invite later.",
  callers: 'key',
  scope: 'customers:write',
  tenant: 'operator',
  idempotency: 'optional',
  limits: ['customer-create'],
  body: CustomerCreate,
  success: { status: 201, description: 'The draft.', schema: Customer, etag: true, location: true },
  problems: ['invitation_domains_required', 'domain_not_approved'],
  handle: ({ caller, command }, { customers }) => customers.create(caller, command),
})

export const getCustomer = route({
  method: 'get',
  path: '/customers/{customerId}',
  operationId: 'getCustomer',
  tag: 'tenants',
  summary: 'Read a customer',
  description:
    'Members read their own customer, for its data and for the tag of a change; its risk rating is not shown to them.',
  callers: 'key',
  scope: 'customers:read',
  capability: 'settings.read',
  tenant: 'any',
  idempotency: 'none',
  success: { status: 200, description: 'The customer.', schema: Customer, etag: true },
  problems: [],
  handle: async ({ caller, params }, { customers }) => resource(await customers.getCustomer(caller, params.customerId)),
})

export const updateCustomer = route({
  method: 'patch',
  path: '/customers/{customerId}',
  operationId: 'updateCustomer',
  tag: 'tenants',
  summary: 'Change a customer',
  description:
    'Members of the customer change its trading name and attributes; staff of the operator change its legal data too. ' +
    'An ETag stays good for `If-Match` while people are invited and sign in.',
  callers: 'session',
  capability: ['settings.manage', 'customers.manage'],
  scope: null,
  tenant: 'any',
  idempotency: 'none',
  ifMatch: true,
  ifMatchesVersion: true,
  current: async ({ tenant, params }, { customers }) =>
    tenant === null ? null : await customers.getCustomer({ tenant, session: null }, params.customerId),
  body: CustomerUpdate,
  success: { status: 200, description: 'The customer as it is now.', schema: Customer, etag: true },
  problems: [],
  handle: async ({ caller, tenant, params, body, expectedVersion }, services) =>
    resource(await services.customers.update(caller, await reach(tenant, params, services), body, expectedVersion)),
})

const steering = {
  method: 'post',
  tag: 'tenants',
  callers: 'staff',
  capability: 'customers.manage',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
  exists,
  success: { status: 200, description: 'The customer as it is now.', schema: Customer, etag: true },
} as const

export const restrictCustomer = route({
  ...steering,
  path: '/customers/{customerId}/restrict',
  operationId: 'restrictCustomer',
  summary: 'Restrict a customer',
  description:
    'From the answer on the customer makes no new payments (`customer-restricted`); it receives, exchanges and moves ' +
    'money between its balances. Payments that wait for the bank stay in the queue, approvals of payments are refused, ' +
    'and scheduled payments that are due wait until their cut-off. What the bank has goes on.',
  body: CustomerMeasure,
  problems: ['invalid-transition'],
  handle: async ({ caller, tenant, params, body }, services) =>
    resource(await services.customers.steer(caller, await reach(tenant, params, services), 'restrict', body)),
})

export const suspendCustomer = route({
  ...steering,
  path: '/customers/{customerId}/suspend',
  operationId: 'suspendCustomer',
  summary: 'Suspend a customer',
  description:
    'As a restriction, and the customer neither exchanges money nor moves it between its balances, and opens and asks ' +
    'for nothing new. It still reads everything, and money that comes in is credited.',
  body: CustomerMeasure,
  problems: ['invalid-transition'],
  handle: async ({ caller, tenant, params, body }, services) =>
    resource(await services.customers.steer(caller, await reach(tenant, params, services), 'suspend', body)),
})

export const liftCustomer = route({
  ...steering,
  path: '/customers/{customerId}/lift',
  operationId: 'liftCustomer',
  summary: 'Lift a restriction or suspension',
  description: 'The customer is as it was before the measure, active or closing, and what waited goes on.',
  body: CustomerMeasure,
  problems: ['invalid-transition'],
  handle: async ({ caller, tenant, params, body }, services) =>
    resource(await services.customers.steer(caller, await reach(tenant, params, services), 'lift', body)),
})

export const rateCustomer = route({
  ...steering,
  path: '/customers/{customerId}/risk',
  operationId: 'rateCustomer',
  summary: 'Rate the risk of a customer',
  body: CustomerRisk,
  problems: [],
  handle: async ({ caller, tenant, params, body }, services) =>
    resource(await services.customers.rate(caller, await reach(tenant, params, services), body)),
})

export const resendOwnerInvitation = route({
  ...steering,
  path: '/customers/{customerId}/resend-invitation',
  operationId: 'resendOwnerInvitation',
  summary: 'Invite the first owner again',
  description:
    'Mails a new link; the link before no longer works. `primaryOwner` invites this person, in place of an owner who ' +
    'has not accepted.',
  body: OwnerInvitation,
  bodyOptional: true,
  problems: ['invalid-transition'],
  handle: async ({ caller, tenant, params, body }, services) =>
    resource(await services.customers.resendInvitation(caller, await reach(tenant, params, services), body)),
})
