/** The documents of a KYB case. */
import { refuseNotFound } from '../../lib/base/problems.ts'
import type { ReadUpload } from '../../actors/documents/uploads.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import { DownloadLink } from '../../lib/contract/download-link.ts'
import { PAGE_LIMIT_MAX, PageOf } from '../../lib/contract/page.ts'
import { KybDocument, KybDocumentUpload } from '../../lib/onboarding/kyb-document-schema.ts'
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

export const listKybDocuments = route({
  ...shared,
  method: 'get',
  path: '/customers/{customerId}/kyb/documents',
  operationId: 'listKybDocuments',
  summary: 'List the documents of a KYB case',
  success: {
    status: 200,
    description: 'All of them, the oldest first.',
    schema: PageOf('KybDocumentPage', KybDocument),
  },
  problems: [],
  handle: async ({ caller, params }, { onboarding }) =>
    json(200, {
      data: (await onboarding.listDocuments(caller, params.customerId)) ?? refuseNotFound(),
      page: { nextCursor: null, prevCursor: null, limit: PAGE_LIMIT_MAX },
    }),
})

export const uploadKybDocument = route({
  ...shared,
  method: 'post',
  path: '/customers/{customerId}/kyb/documents',
  operationId: 'uploadKybDocument',
  summary: 'Upload a document of a KYB case',
  description:
    'A PDF, JPEG, PNG or HEIC of up to 20 MiB, as `multipart/form-data`. `personId` names the person whose document it ' +
    'is; a document that expires is asked for again. It counts once its scan has found it `clean`.',
  limits: ['upload'],
  form: KybDocumentUpload,
  success: {
    status: 201,
    description: 'The document, which waits for its scan.',
    schema: KybDocument,
    etag: true,
    location: true,
  },
  problems: ['limit-reached', 'invalid-transition'],
  handle: async ({ caller, tenant, params, upload }, services) => {
    const customerId = await reach(tenant, params, services)
    const document = await services.onboarding.uploadDocument(caller, customerId, upload as ReadUpload)
    return created(document, `/v1/customers/${customerId}/kyb/documents/${document.view.id}`)
  },
})

export const getKybDocument = route({
  ...shared,
  method: 'get',
  path: '/customers/{customerId}/kyb/documents/{documentId}',
  operationId: 'getKybDocument',
  summary: 'Read a document of a KYB case',
  success: { status: 200, description: 'The document.', schema: KybDocument, etag: true },
  problems: [],
  handle: async ({ caller, params }, { onboarding }) =>
    resource(await onboarding.getDocument(caller, params.customerId, params.documentId)),
})

export const downloadKybDocument = route({
  ...shared,
  method: 'get',
  path: '/customers/{customerId}/kyb/documents/{documentId}/download',
  operationId: 'downloadKybDocument',
  summary: 'Get a link to a document of a KYB case',
  success: { status: 200, description: 'A link that expires soon.', schema: DownloadLink },
  problems: ['document-not-ready', 'document-not-clean'],
  handle: async ({ caller, params }, { onboarding }) =>
    json(200, (await onboarding.downloadDocument(caller, params.customerId, params.documentId)) ?? refuseNotFound()),
})

export const deleteKybDocument = route({
  ...shared,
  method: 'delete',
  path: '/customers/{customerId}/kyb/documents/{documentId}',
  operationId: 'deleteKybDocument',
  summary: 'Delete a document of a KYB case',
  description: 'While the case is a draft, and while information is requested.',
  success: { status: 204, description: 'The document was deleted.' },
  problems: ['invalid-transition'],
  handle: async ({ caller, tenant, params }, services) => {
    const customerId = await reach(tenant, params, services)
    await services.onboarding.removeDocument(caller, customerId, params.documentId)
    return empty()
  },
})
