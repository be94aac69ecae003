/** Addresses and closure of a customer. */
import { refuseNotFound } from '../../lib/base/problems.ts'
import { created, empty, json, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import {
  CustomerAddress,
  CustomerAddressCreate,
  CustomerAddressUpdate,
  CustomerClosure,
} from '../../lib/customers/customer-address-schema.ts'
import { PAGE_LIMIT_MAX, PageOf } from '../../lib/contract/page.ts'
import type { ReadServices } from '../route/services.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

/**
 * Returns the customer in the path: the tenant, or a customer of its operator.
 *
 * @throws ProblemError `not-found` for any other
 */
async function reach(
  tenant: Tenant | null,
  { customerId }: { readonly customerId: string },
  { customers }: ReadServices,
): Promise<string> {
  if (tenant === null || !(await customers.reaches(tenant, customerId))) refuseNotFound()
  return customerId
}

const shared = {
  tag: 'tenants',
  callers: 'session',
  scope: null,
  tenant: 'any',
  idempotency: 'none',
  capability: ['settings.manage', 'customers.manage'],
} as const

export const listCustomerAddresses = route({
  ...shared,
  method: 'get',
  path: '/customers/{customerId}/settings/addresses',
  operationId: 'listCustomerAddresses',
  summary: 'List the addresses of the customer',
  success: {
    status: 200,
    description: 'All addresses, oldest first.',
    schema: PageOf('CustomerAddressPage', CustomerAddress),
  },
  problems: [],
  handle: async ({ tenant, params }, services) =>
    json(200, {
      data: await services.customers.listAddresses(await reach(tenant, params, services)),
      page: { nextCursor: null, prevCursor: null, limit: PAGE_LIMIT_MAX },
    }),
})

export const createCustomerAddress = route({
  ...shared,
  method: 'post',
  path: '/customers/{customerId}/settings/addresses',
  operationId: 'createCustomerAddress',
  summary: 'Add an address',
  description: 'A customer has one registered address.',
  body: CustomerAddressCreate,
  success: { status: 201, description: 'The address.', schema: CustomerAddress, etag: true, location: true },
  problems: ['limit-reached'],
  handle: async ({ caller, params, body, tenant }, services) => {
    const customerId = await reach(tenant, params, services)
    const address = await services.customers.createAddress(caller, customerId, body)
    return created(address, `/v1/customers/${customerId}/settings/addresses/${address.view.id}`)
  },
})

export const getCustomerAddress = route({
  ...shared,
  method: 'get',
  path: '/customers/{customerId}/settings/addresses/{addressId}',
  operationId: 'getCustomerAddress',
  summary: 'Read an address',
  success: { status: 200, description: 'The address.', schema: CustomerAddress, etag: true },
  problems: [],
  handle: async ({ tenant, params }, services) =>
    resource(await services.customers.getAddress(await reach(tenant, params, services), params.addressId)),
})

export const updateCustomerAddress = route({
  ...shared,
  method: 'patch',
  path: '/customers/{customerId}/settings/addresses/{addressId}',
  operationId: 'updateCustomerAddress',
  summary: 'Change an address',
  ifMatch: true,
  current: async ({ tenant, params }, services) =>
    await services.customers.getAddress(await reach(tenant, params, services), params.addressId),
  body: CustomerAddressUpdate,
  success: { status: 200, description: 'The address as it is now.', schema: CustomerAddress, etag: true },
  problems: [],
  handle: async ({ caller, params, body, tenant, expectedVersion }, services) =>
    resource(
      await services.customers.updateAddress(
        caller,
        await reach(tenant, params, services),
        params.addressId,
        body,
        expectedVersion,
      ),
    ),
})

export const deleteCustomerAddress = route({
  ...shared,
  method: 'delete',
  path: '/customers/{customerId}/settings/addresses/{addressId}',
  operationId: 'deleteCustomerAddress',
  summary: 'Remove an address',
  ifMatch: true,
  current: async ({ tenant, params }, services) =>
    await services.customers.getAddress(await reach(tenant, params, services), params.addressId),
  success: { status: 204, description: 'The address is gone.' },
  problems: [],
  handle: async ({ caller, params, tenant, expectedVersion }, services) => {
    await services.customers.deleteAddress(
      caller,
      await reach(tenant, params, services),
      params.addressId,
      expectedVersion,
    )
    return empty()
  },
})

const closure = {
  tag: 'tenants',
  callers: 'session',
  scope: null,
  tenant: 'customer',
  idempotency: 'none',
  capability: 'owner',
  stepUp: { action: 'membership.change' },
  path: '/customers/{customerId}/closure',
} as const

export const requestClosure = route({
  ...closure,
  method: 'post',
  operationId: 'requestClosure',
  summary: 'Request the closure of the customer',
  description:
    'Refused while payments, transfers or exchanges are under way. Afterwards no money is paid in or out. ' +
    'When all balances are empty, the accounts are closed, and the customer with the last account: its keys ' +
    'and webhook endpoints end, and its members lose access. The request can be revoked until the closing of ' +
    'the accounts begins.',
  success: { status: 200, description: 'The customer is closing.', schema: CustomerClosure },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, tenant }, services) => {
    await reach(tenant, params, services)
    return json(200, await services.customers.requestClosure(caller))
  },
})

export const withdrawClosure = route({
  ...closure,
  method: 'delete',
  operationId: 'withdrawClosure',
  summary: 'Revoke the closure of the customer',
  success: { status: 204, description: 'The customer is active again.' },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, tenant }, services) => {
    await reach(tenant, params, services)
    await services.customers.withdrawClosure(caller)
    return empty()
  },
})
