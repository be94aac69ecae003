/** Transactions, and the annotations that people add to them. */
import { seesOperatorFields } from '../../lib/identity/caller.ts'
import { created, document, empty, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { Annotation, annotationList, AnnotationWrite } from '../../lib/transactions/annotation-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'
import {
  Transaction,
  TransactionDetail,
  transactionList,
  TransactionUpdate,
  TransactionUpdateBody,
  transactionUpdateList,
} from '../../lib/transactions/transaction-schema.ts'

const read = {
  tag: 'activity',
  callers: 'key',
  scope: 'transactions:read',
  tenant: 'customer',
  idempotency: 'none',
} as const
const written = {
  tag: 'activity',
  callers: 'session',
  scope: null,
  capability: 'transactions.annotate',
  tenant: 'customer',
  idempotency: 'none',
} as const

export const listTransactions = route({
  ...read,
  method: 'get',
  path: '/transactions',
  operationId: 'listTransactions',
  readByStaff: true,
  summary: 'List transactions',
  description:
    'Lists everything that changes a balance or is about to, of every kind. `q` finds the beginnings of ' +
    'words in description, counterparty, reference and order number.',
  list: transactionList,
  success: {
    status: 200,
    description: 'A page of transactions.',
    schema: PageOf('TransactionPage', Transaction),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { transactions }) => page(list, await transactions.list(list)),
})

export const getTransaction = route({
  ...read,
  method: 'get',
  path: '/transactions/{transactionId}',
  operationId: 'getTransaction',
  readByStaff: true,
  summary: 'Read a transaction with its related objects',
  success: { status: 200, description: 'The transaction.', schema: TransactionDetail, etag: true },
  problems: [],
  handle: async ({ caller, tenant, params }, { transactions }) =>
    resource(await transactions.get(tenant, params.transactionId, seesOperatorFields(caller))),
})

export const updateTransaction = route({
  ...written,
  method: 'patch',
  path: '/transactions/{transactionId}',
  operationId: 'updateTransaction',
  summary: 'Categorize a transaction',
  ifMatch: true,
  current: async ({ tenant, params }, { transactions }) =>
    tenant === null ? null : await transactions.get(tenant, params.transactionId),
  body: TransactionUpdateBody,
  success: { status: 200, description: 'The transaction as it is now.', schema: TransactionDetail, etag: true },
  problems: [],
  handle: async ({ caller, params, body, expectedVersion }, { transactions }) =>
    resource(await transactions.setCategory(caller, params.transactionId, body.category, expectedVersion)),
})

export const listTransactionUpdates = route({
  ...read,
  method: 'get',
  path: '/transactions/{transactionId}/updates',
  operationId: 'listTransactionUpdates',
  summary: 'List the status updates of a transaction',
  list: transactionUpdateList,
  success: {
    status: 200,
    description: 'A page of status updates.',
    schema: PageOf('TransactionUpdatePage', TransactionUpdate),
    etag: true,
  },
  problems: [],
  handle: async ({ list, params }, { transactions }) =>
    page(list, await transactions.listUpdates({ ...list, transactionId: params.transactionId })),
})

export const getTransactionConfirmation = route({
  method: 'get',
  path: '/transactions/{transactionId}/confirmation',
  operationId: 'getTransactionConfirmation',
  tag: 'activity',
  summary: 'Download the confirmation of a transaction',
  description:
    'A PDF, rendered on the first request; only that request counts against the limit of exports. It exists once the transaction is final; a later change makes a new confirmation.',
  callers: 'key',
  scope: 'statements:read',
  tenant: 'customer',
  idempotency: 'none',
  success: { status: 200, description: 'The confirmation.', contentType: 'application/pdf', etag: true },
  problems: ['confirmation-not-available'],
  handle: async ({ tenant, params }, { confirmations, limitRendering }) => {
    const found = await confirmations.ofTransaction(tenant, params.transactionId, limitRendering)
    return document(found, found === null ? '' : `transaction-${found.number}.pdf`)
  },
})

export const listAnnotations = route({
  ...read,
  method: 'get',
  path: '/transactions/{transactionId}/annotations',
  operationId: 'listAnnotations',
  summary: 'List the annotations of a transaction',
  list: annotationList,
  success: {
    status: 200,
    description: 'A page of annotations.',
    schema: PageOf('AnnotationPage', Annotation),
    etag: true,
  },
  problems: [],
  handle: async ({ list, params }, { transactions }) =>
    page(list, await transactions.listAnnotations({ ...list, transactionId: params.transactionId })),
})

export const createAnnotation = route({
  ...written,
  method: 'post',
  path: '/transactions/{transactionId}/annotations',
  operationId: 'createAnnotation',
  summary: 'Annotate a transaction',
  body: AnnotationWrite,
  exists: (tenant, { transactionId }, { transactions }) => transactions.exists(tenant, transactionId),
  success: { status: 201, description: 'The annotation.', schema: Annotation, etag: true, location: true },
  problems: [],
  handle: async ({ caller, params: { transactionId }, body }, { transactions }) => {
    // `exists` first brings the transaction table up to date with the events that have not been followed yet.
    await transactions.exists(caller.tenant, transactionId)
    const made = await transactions.annotate(caller, transactionId, body.text)
    return created(made, `/v1/transactions/${transactionId}/annotations/${made.view.id}`)
  },
})

export const getAnnotation = route({
  ...read,
  method: 'get',
  path: '/transactions/{transactionId}/annotations/{annotationId}',
  operationId: 'getAnnotation',
  summary: 'Read an annotation',
  success: { status: 200, description: 'The annotation.', schema: Annotation, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { transactions }) =>
    resource(await transactions.getAnnotation(tenant, params.transactionId, params.annotationId)),
})

export const updateAnnotation = route({
  ...written,
  method: 'patch',
  path: '/transactions/{transactionId}/annotations/{annotationId}',
  operationId: 'updateAnnotation',
  summary: 'Change an annotation',
  description: 'Allowed for the author of the annotation and for owners and administrators.',
  ifMatch: true,
  current: async ({ tenant, params }, { transactions }) =>
    tenant === null ? null : await transactions.getAnnotation(tenant, params.transactionId, params.annotationId),
  body: AnnotationWrite,
  success: { status: 200, description: 'The annotation as it is now.', schema: Annotation, etag: true },
  problems: [],
  handle: async ({ caller, params, body, expectedVersion }, { transactions }) =>
    resource(
      await transactions.rewriteAnnotation(
        caller,
        params.transactionId,
        params.annotationId,
        body.text,
        expectedVersion,
      ),
    ),
})

export const deleteAnnotation = route({
  ...written,
  method: 'delete',
  path: '/transactions/{transactionId}/annotations/{annotationId}',
  operationId: 'deleteAnnotation',
  summary: 'Delete an annotation',
  description: 'Allowed for the author of the annotation and for owners and administrators.',
  ifMatch: true,
  current: async ({ tenant, params }, { transactions }) =>
    tenant === null ? null : await transactions.getAnnotation(tenant, params.transactionId, params.annotationId),
  success: { status: 204, description: 'The annotation was deleted.' },
  problems: [],
  handle: async ({ caller, params, expectedVersion }, { transactions }) => {
    await transactions.deleteAnnotation(caller, params.transactionId, params.annotationId, expectedVersion)
    return empty()
  },
})
