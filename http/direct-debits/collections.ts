/** Collections of direct debits. */
import { json, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { PageOf } from '../../lib/contract/page.ts'
import {
  Collection,
  CollectionCreate,
  collectionList,
  CollectionReverse,
  CollectionStatusReport,
  PreNotificationSent,
} from '../../lib/direct-debits/collection-schema.ts'

const shared = { tag: 'payments', callers: 'key', tenant: 'customer', feature: 'payments.direct_debits' } as const

export const listCollections = route({
  ...shared,
  method: 'get',
  path: '/collections',
  operationId: 'listCollections',
  summary: 'List collections',
  scope: 'payments:read',
  idempotency: 'none',
  list: collectionList,
  success: {
    status: 200,
    description: 'A page of collections.',
    schema: PageOf('CollectionPage', Collection),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { directDebits }) => page(list, await directDebits.listCollections(list)),
})

export const createCollection = route({
  ...shared,
  method: 'post',
  path: '/collections',
  operationId: 'createCollection',
  money: 'pay',
  summary: 'Create a collection',
  description:
    'By default due on the earliest day that the scheme and the notice of the payer allow. The sequence is derived. A ' +
    'collection of a mandate that is not active yet fails when the mandate fails.',
  scope: 'payments:write',
  idempotency: 'required',
  limits: ['money'],
  body: CollectionCreate,
  success: { status: 201, description: 'The created collection.', schema: Collection, etag: true, location: true },
  problems: ['invalid-transition', 'duplicate-external-id', 'limit-reached'],
  handle: ({ command }, { directDebits }) => directDebits.createCollection(command),
})

export const getCollection = route({
  ...shared,
  method: 'get',
  path: '/collections/{collectionId}',
  operationId: 'getCollection',
  summary: 'Read a collection',
  scope: 'payments:read',
  idempotency: 'none',
  success: { status: 200, description: 'The collection.', schema: Collection, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { directDebits }) =>
    resource(await directDebits.getCollection(tenant, params.collectionId)),
})

export const cancelCollection = route({
  ...shared,
  method: 'post',
  path: '/collections/{collectionId}/cancel',
  operationId: 'cancelCollection',
  summary: 'Cancel a collection',
  description: 'Until it is submitted.',
  scope: 'payments:write',
  idempotency: 'optional',
  success: { status: 200, description: 'The cancelled collection.', schema: Collection },
  problems: ['not-cancellable'],
  handle: ({ params, command }, { directDebits }) => directDebits.cancelCollection(command, params.collectionId),
})

export const noteCollectionNotice = route({
  ...shared,
  method: 'post',
  path: '/collections/{collectionId}/pre-notification',
  operationId: 'noteCollectionNotice',
  summary: 'Note that the payer was told of a collection',
  description:
    'For payers whom the customer tells by itself. A payer whose mandate has an e-mail address is told by the service, ' +
    'on the day `preNotification.sendBy`.',
  scope: 'payments:write',
  idempotency: 'optional',
  body: PreNotificationSent,
  exists: async (tenant, { collectionId }, { directDebits }) =>
    (await directDebits.getCollection(tenant, collectionId)) !== null,
  success: { status: 200, description: 'The collection as it is now.', schema: Collection },
  problems: ['invalid-transition'],
  handle: ({ params, command }, { directDebits }) => directDebits.noteNotice(command, params.collectionId),
})

export const reverseCollection = route({
  ...shared,
  method: 'post',
  path: '/collections/{collectionId}/reverse',
  operationId: 'reverseCollection',
  money: 'pay',
  summary: 'Send a collection back to its payer',
  description:
    'Until five business days after the settlement. The money leaves the balance at once; `reversal.status` tells when ' +
    'the bank has sent it back, or has refused to, after which the collection is `collected` again.',
  scope: 'payments:write',
  idempotency: 'required',
  stepUp: {
    action: 'payment.above_threshold',
    amount: async ({ tenant, params }, { directDebits }) =>
      tenant === null ? null : ((await directDebits.getCollection(tenant, params.collectionId))?.view.amount ?? null),
  },
  limits: ['money'],
  body: CollectionReverse,
  exists: async (tenant, { collectionId }, { directDebits }) =>
    (await directDebits.getCollection(tenant, collectionId)) !== null,
  success: { status: 200, description: 'The collection as it is now.', schema: Collection },
  problems: ['invalid-transition', 'insufficient-funds'],
  handle: ({ params, command }, { directDebits }) => directDebits.reverseCollection(command, params.collectionId),
})

export const reportCollectionStatus = route({
  tag: 'payments',
  callers: 'staff',
  scope: null,
  capability: 'operations.manage',
  tenant: 'operator',
  feature: 'payments.direct_debits',
  method: 'post',
  path: '/collections/{collectionId}/status-reports',
  operationId: 'reportCollectionStatus',
  summary: 'Report the status of a collection',
  description: 'What the bank has told, for collections by mandates that no provider manages.',
  idempotency: 'none',
  body: CollectionStatusReport,
  exists: async (tenant, { collectionId }, { directDebits }) =>
    (await directDebits.getCollection(tenant, collectionId)) !== null,
  success: { status: 200, description: 'The collection as it is now.', schema: Collection },
  problems: ['invalid-transition', 'document-not-clean'],
  handle: async ({ caller, params, body }, { directDebits }) =>
    json(200, (await directDebits.reportCollection(caller, params.collectionId, body)).view),
})
