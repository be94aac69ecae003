/** The people and companies of a KYB case. */
import { refuseNotFound } from '../../lib/base/problems.ts'
import type { Principal, Tenant } from '../../lib/commands/caller.ts'
import { PAGE_LIMIT_MAX, PageOf } from '../../lib/contract/page.ts'
import { KybPerson, KybPersonCreate, KybPersonUpdate } from '../../lib/onboarding/kyb-person-schema.ts'
import { created, empty, json, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import type { ReadServices } from '../route/services.ts'

type Params = { readonly customerId: string }

/** @throws ProblemError `not-found` for a customer that the tenant does not reach */
async function reach(tenant: Tenant, { customerId }: Params, { customers }: ReadServices): Promise<string> {
  if (!(await customers.reaches(tenant, customerId))) refuseNotFound()
  return customerId
}

const shared = {
  tag: 'onboarding',
  callers: 'session',
  capability: ['onboarding.write', 'onboarding.review'],
  scope: null,
  tenant: 'any',
  idempotency: 'none',
} as const

const current = async (
  {
    tenant,
    principal,
    params,
  }: { tenant: Tenant | null; principal: Principal | null; params: Params & { readonly personId: string } },
  { onboarding }: ReadServices,
) =>
  tenant === null || principal === null
    ? null
    : await onboarding.getPerson({ tenant, principal }, params.customerId, params.personId)

export const listKybPersons = route({
  ...shared,
  method: 'get',
  path: '/customers/{customerId}/kyb/persons',
  operationId: 'listKybPersons',
  summary: 'List the people and companies of a KYB case',
  success: {
    status: 200,
    description: 'All of them, the oldest first.',
    schema: PageOf('KybPersonPage', KybPerson),
  },
  problems: [],
  handle: async ({ caller, params }, { onboarding }) =>
    json(200, {
      data: (await onboarding.listPersons(caller, params.customerId)) ?? refuseNotFound(),
      page: { nextCursor: null, prevCursor: null, limit: PAGE_LIMIT_MAX },
    }),
})

export const createKybPerson = route({
  ...shared,
  method: 'post',
  path: '/customers/{customerId}/kyb/persons',
  operationId: 'createKybPerson',
  summary: 'Add a person or a company',
  description:
    'Directors, owners and others who control or sign for the customer. What is owned directly stands in ' +
    '`ownershipPercent`; the owners of a company stand in its `ownedBy`. The share of each along all chains is ' +
    '`effectivePercent`.',
  body: KybPersonCreate,
  exists: (tenant, { customerId }, { customers }) => customers.reaches(tenant, customerId),
  success: { status: 201, description: 'The person.', schema: KybPerson, etag: true, location: true },
  problems: ['limit-reached', 'invalid-transition'],
  handle: async ({ caller, tenant, params, body }, services) => {
    const customerId = await reach(tenant, params, services)
    const person = await services.onboarding.createPerson(caller, customerId, body)
    return created(person, `/v1/customers/${customerId}/kyb/persons/${person.view.id}`)
  },
})

export const getKybPerson = route({
  ...shared,
  method: 'get',
  path: '/customers/{customerId}/kyb/persons/{personId}',
  operationId: 'getKybPerson',
  summary: 'Read a person or a company',
  success: { status: 200, description: 'The person.', schema: KybPerson, etag: true },
  problems: [],
  handle: async ({ caller, params }, { onboarding }) =>
    resource(await onboarding.getPerson(caller, params.customerId, params.personId)),
})

export const updateKybPerson = route({
  ...shared,
  method: 'patch',
  path: '/customers/{customerId}/kyb/persons/{personId}',
  operationId: 'updateKybPerson',
  summary: 'Change a person or a company',
  ifMatch: true,
  ifMatchesVersion: true,
  current,
  body: KybPersonUpdate,
  success: { status: 200, description: 'The person as it is now.', schema: KybPerson, etag: true },
  problems: ['invalid-transition'],
  handle: async ({ caller, tenant, params, body, expectedVersion }, services) =>
    resource(
      await services.onboarding.updatePerson(
        caller,
        await reach(tenant, params, services),
        params.personId,
        body,
        expectedVersion,
      ),
    ),
})

export const deleteKybPerson = route({
  ...shared,
  method: 'delete',
  path: '/customers/{customerId}/kyb/persons/{personId}',
  operationId: 'deleteKybPerson',
  summary: 'Remove a person or a company',
  description: 'With its documents. One that owns a company of the case stays until that company has other owners.',
  ifMatch: true,
  ifMatchesVersion: true,
  current,
  success: { status: 204, description: 'The person is gone.' },
  problems: ['invalid-transition', 'validation-error'],
  handle: async ({ caller, tenant, params, expectedVersion }, services) => {
    const customerId = await reach(tenant, params, services)
    await services.onboarding.removePerson(caller, customerId, params.personId, expectedVersion)
    return empty()
  },
})
