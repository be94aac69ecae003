/** Documents: files with a purpose. */
import { empty, json, page, resource } from '../route/answer.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { route } from '../route/route.ts'
import { Document, documentList, DocumentUpload } from '../../lib/documents/document-schema.ts'
import { DownloadLink } from '../../lib/contract/download-link.ts'
import { PageOf } from '../../lib/contract/page.ts'
import type { ReadUpload } from '../../actors/documents/uploads.ts'

const shared = { tag: 'activity', tenant: 'customer' } as const

export const uploadDocument = route({
  ...shared,
  idempotency: 'optional',
  method: 'post',
  path: '/documents',
  operationId: 'uploadDocument',
  summary: 'Upload a document',
  description:
    'A PDF, JPEG, PNG or HEIC of up to 10 MiB, for `kyb` 20 MiB, as `multipart/form-data`; for ' +
    '`transaction_attachment` also CSV, XLSX and DOCX. It can be used once its scan has found it `clean`. ' +
    'API keys can upload for `mandate`, `payment_support` and `recipient_support`.',
  callers: 'key',
  scope: 'payments:write',
  limits: ['upload'],
  form: DocumentUpload,
  success: {
    status: 201,
    description: 'The document, which waits for its scan.',
    schema: Document,
    etag: true,
    location: true,
  },
  problems: [],
  handle: ({ caller, command, upload }, { documents }) => documents.upload(caller, command, upload as ReadUpload),
})

export const listDocuments = route({
  ...shared,
  idempotency: 'none',
  method: 'get',
  path: '/documents',
  operationId: 'listDocuments',
  summary: 'List documents',
  callers: 'session',
  scope: null,
  capability: 'payments:read',
  list: documentList,
  success: { status: 200, description: 'A page of documents.', schema: PageOf('DocumentPage', Document), etag: true },
  problems: [],
  handle: async ({ list }, { documents }) => page(list, await documents.list(list)),
})

export const getDocument = route({
  ...shared,
  idempotency: 'none',
  method: 'get',
  path: '/documents/{documentId}',
  operationId: 'getDocument',
  summary: 'Read a document',
  callers: 'key',
  scope: 'payments:read',
  success: { status: 200, description: 'The document.', schema: Document, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { documents }) => resource(await documents.get(tenant, params.documentId)),
})

export const downloadDocument = route({
  ...shared,
  idempotency: 'none',
  method: 'get',
  path: '/documents/{documentId}/download',
  operationId: 'downloadDocument',
  summary: 'Get a link to a document',
  callers: 'key',
  scope: 'payments:read',
  success: { status: 200, description: 'A link that expires soon.', schema: DownloadLink },
  problems: ['document-not-ready', 'document-not-clean'],
  handle: async ({ tenant, params }, { documents }) =>
    json(200, (await documents.download('document', tenant, params.documentId)) ?? refuseNotFound()),
})

export const deleteDocument = route({
  ...shared,
  idempotency: 'none',
  method: 'delete',
  path: '/documents/{documentId}',
  operationId: 'deleteDocument',
  summary: 'Delete a document that nothing refers to',
  callers: 'session',
  scope: null,
  capability: ['payments.create', 'settings.manage', 'onboarding.write'],
  ifMatch: 'when sent',
  current: async ({ tenant, params }, { documents }) =>
    tenant === null ? null : await documents.get(tenant, params.documentId),
  success: { status: 204, description: 'The document was deleted.' },
  problems: ['invalid-transition'],
  handle: async ({ caller, params, expectedVersion }, { documents }) => {
    await documents.delete(caller, params.documentId, expectedVersion)
    return empty()
  },
})
