/** Mandates of direct debits. */
import { json, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { PageOf } from '../../lib/contract/page.ts'
import {
  Mandate,
  MandateCancel,
  MandateCreate,
  mandateList,
  MandateStatusReport,
  MandateUpdate,
} from '../../lib/direct-debits/mandate-schema.ts'

const shared = { tag: 'payments', callers: 'key', tenant: 'customer', feature: 'payments.direct_debits' } as const

export const listMandates = route({
  ...shared,
  method: 'get',
  path: '/mandates',
  operationId: 'listMandates',
  summary: 'List mandates',
  scope: 'payments:read',
  idempotency: 'none',
  list: mandateList,
  success: { status: 200, description: 'A page of mandates.', schema: PageOf('MandatePage', Mandate), etag: true },
  problems: [],
  handle: async ({ list }, { directDebits }) => page(list, await directDebits.listMandates(list)),
})

export const createMandate = route({
  ...shared,
  method: 'post',
  path: '/mandates',
  operationId: 'createMandate',
  money: 'pay',
  summary: 'Create a mandate',
  description:
    'A signed mandate of a scheme without lodging is active at once; others become active when the bank of the payer ' +
    'or the provider has accepted them. Collections can be made before that.',
  scope: 'payments:write',
  idempotency: 'required',
  limits: ['money'],
  body: MandateCreate,
  success: { status: 201, description: 'The created mandate.', schema: Mandate, etag: true, location: true },
  problems: ['document-not-clean'],
  handle: ({ command }, { directDebits }) => directDebits.createMandate(command),
})

export const getMandate = route({
  ...shared,
  method: 'get',
  path: '/mandates/{mandateId}',
  operationId: 'getMandate',
  summary: 'Read a mandate',
  scope: 'payments:read',
  idempotency: 'none',
  success: { status: 200, description: 'The mandate.', schema: Mandate, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { directDebits }) =>
    resource(await directDebits.getMandate(tenant, params.mandateId)),
})

export const updateMandate = route({
  ...shared,
  method: 'patch',
  path: '/mandates/{mandateId}',
  operationId: 'updateMandate',
  summary: 'Change a mandate',
  description: 'A signature is given while the mandate is pending. Attributes can be changed at any time.',
  scope: 'payments:write',
  idempotency: 'none',
  ifMatch: true,
  ifMatchesVersion: true,
  current: async ({ tenant, params }, { directDebits }) =>
    tenant === null ? null : await directDebits.getMandate(tenant, params.mandateId),
  body: MandateUpdate,
  success: { status: 200, description: 'The mandate as it is now.', schema: Mandate, etag: true },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, body, expectedVersion }, { directDebits }) =>
    resource(await directDebits.updateMandate(caller, params.mandateId, body, expectedVersion)),
})

export const cancelMandate = route({
  ...shared,
  method: 'post',
  path: '/mandates/{mandateId}/cancel',
  operationId: 'cancelMandate',
  summary: 'Cancel a mandate',
  description: 'Its pending collections are cancelled with it. Not while a collection is in clearing.',
  scope: 'payments:write',
  idempotency: 'optional',
  body: MandateCancel,
  bodyOptional: true,
  exists: async (tenant, { mandateId }, { directDebits }) =>
    (await directDebits.getMandate(tenant, mandateId)) !== null,
  success: { status: 200, description: 'The cancelled mandate.', schema: Mandate },
  problems: ['not-cancellable', 'invalid-transition'],
  handle: ({ params, command }, { directDebits }) => directDebits.cancelMandate(command, params.mandateId),
})

export const reportMandateStatus = route({
  tag: 'payments',
  callers: 'staff',
  scope: null,
  capability: 'operations.manage',
  tenant: 'operator',
  feature: 'payments.direct_debits',
  method: 'post',
  path: '/mandates/{mandateId}/status-reports',
  operationId: 'reportMandateStatus',
  summary: 'Report the status of a mandate',
  description: 'What the bank of the payer has told, for mandates that no provider manages.',
  idempotency: 'none',
  body: MandateStatusReport,
  exists: async (tenant, { mandateId }, { directDebits }) =>
    (await directDebits.getMandate(tenant, mandateId)) !== null,
  success: { status: 200, description: 'The mandate as it is now.', schema: Mandate },
  problems: ['invalid-transition', 'document-not-clean'],
  handle: async ({ caller, params, body }, { directDebits }) =>
    json(200, (await directDebits.reportMandate(caller, params.mandateId, body)).view),
})
