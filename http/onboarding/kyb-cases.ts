/** The KYB case of a customer, as the customer and staff fill it in and submit it. */
import { refuseNotFound } from '../../lib/base/problems.ts'
import type { Principal, Tenant } from '../../lib/commands/caller.ts'
import { KybCase, KybCaseUpdate } from '../../lib/onboarding/kyb-case-schema.ts'
import { resource } from '../route/answer.ts'
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

const current = async (
  { tenant, principal, params }: { tenant: Tenant | null; principal: Principal | null; params: Params },
  { onboarding }: ReadServices,
) => (tenant === null || principal === null ? null : await onboarding.getCase({ tenant, principal }, params.customerId))

const shared = { tag: 'onboarding', tenant: 'any', idempotency: 'none' } as const
const changed = { status: 200, description: 'The case as it is now.', schema: KybCase, etag: true } as const

export const getKybCase = route({
  ...shared,
  method: 'get',
  path: '/customers/{customerId}/kyb',
  operationId: 'getKybCase',
  summary: 'Read the KYB case of a customer',
  description:
    '`requirements` tell what is missing, by JSON pointers into this case; persons are found under their ids, documents ' +
    'under their types. A member of the customer needs the role owner or admin.',
  callers: 'key',
  scope: 'onboarding:read',
  capability: 'onboarding.write',
  success: { status: 200, description: 'The case.', schema: KybCase, etag: true },
  problems: [],
  handle: async ({ caller, params }, { onboarding }) => resource(await onboarding.getCase(caller, params.customerId)),
})

export const updateKybCase = route({
  ...shared,
  method: 'patch',
  path: '/customers/{customerId}/kyb',
  operationId: 'updateKybCase',
  summary: 'Change the KYB case',
  description:
    'While the case is a draft, and while information is requested. Members of the customer alone make statements ' +
    '(`attestations`, `terms`); of an approved case they make those anew. An ETag stays good for `If-Match` while ' +
    'persons, documents and requirements change.',
  callers: 'session',
  capability: ['onboarding.write', 'onboarding.review'],
  scope: null,
  ifMatch: true,
  ifMatchesVersion: true,
  current,
  body: KybCaseUpdate,
  success: changed,
  problems: ['invalid-transition'],
  handle: async ({ caller, tenant, params, body, expectedVersion }, services) =>
    resource(
      await services.onboarding.updateCase(caller, await reach(tenant, params, services), body, expectedVersion),
    ),
})

export const submitKybCase = route({
  ...shared,
  method: 'post',
  path: '/customers/{customerId}/kyb/submit',
  operationId: 'submitKybCase',
  summary: 'Submit the KYB case',
  description:
    'Everything that is currently due has to be there, and each document clean; `validation-error` names what is ' +
    'missing by its pointer. A case with questions of the operator is submitted again the same way.',
  callers: 'session',
  capability: 'onboarding.write',
  scope: null,
  tenant: 'customer',
  exists,
  success: changed,
  problems: ['invalid-transition', 'document-not-clean', 'validation-error'],
  handle: async ({ caller, tenant, params }, services) =>
    resource(await services.onboarding.submitCase(caller, await reach(tenant, params, services))),
})

export const withdrawKybCase = route({
  ...shared,
  method: 'post',
  path: '/customers/{customerId}/kyb/withdraw',
  operationId: 'withdrawKybCase',
  summary: 'Withdraw the KYB case',
  description:
    'The customer is closed: its keys and webhook endpoints end, and its members lose access. A customer that was ' +
    'approved before requests its closure instead.',
  callers: 'session',
  capability: ['onboarding.write', 'onboarding.review'],
  scope: null,
  exists,
  success: changed,
  problems: ['invalid-transition'],
  handle: async ({ caller, tenant, params }, services) =>
    resource(await services.onboarding.withdrawCase(caller, await reach(tenant, params, services))),
})
