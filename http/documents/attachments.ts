/** Attachments: files that belong to transactions. */
import { empty, json, page, resource } from '../route/answer.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { route } from '../route/route.ts'
import {
  Attachment,
  attachmentList,
  AttachmentUpload,
  transactionAttachmentList,
} from '../../lib/documents/document-schema.ts'
import { DownloadLink } from '../../lib/contract/download-link.ts'
import { PageOf } from '../../lib/contract/page.ts'
import type { ReadUpload } from '../../actors/documents/uploads.ts'

const read = {
  method: 'get',
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
} as const

export const listAttachments = route({
  ...read,
  path: '/attachments',
  operationId: 'listAttachments',
  summary: 'List attachments of all transactions',
  list: attachmentList,
  success: {
    status: 200,
    description: 'A page of attachments.',
    schema: PageOf('AttachmentPage', Attachment),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { documents }) => page(list, await documents.listAttachments(list)),
})

export const listTransactionAttachments = route({
  ...read,
  path: '/transactions/{transactionId}/attachments',
  operationId: 'listTransactionAttachments',
  summary: 'List the attachments of a transaction',
  list: transactionAttachmentList,
  success: {
    status: 200,
    description: 'A page of attachments.',
    schema: PageOf('AttachmentPage', Attachment),
    etag: true,
  },
  problems: [],
  handle: async ({ list, params }, { documents }) =>
    page(list, await documents.listTransactionAttachments({ ...list, transactionId: params.transactionId })),
})

export const uploadTransactionAttachment = route({
  ...written,
  idempotency: 'optional',
  method: 'post',
  path: '/transactions/{transactionId}/attachments',
  operationId: 'uploadTransactionAttachment',
  summary: 'Attach a file to a transaction',
  description:
    'A PDF, JPEG, PNG, HEIC, CSV, XLSX or DOCX of up to 10 MiB, as `multipart/form-data`; at most ten per ' +
    'transaction. It can be downloaded once its scan has found it `clean`.',
  limits: ['upload'],
  form: AttachmentUpload,
  success: {
    status: 201,
    description: 'The attachment, which waits for its scan.',
    schema: Attachment,
    etag: true,
    location: true,
  },
  problems: ['limit-reached'],
  handle: ({ caller, params, command, upload }, { documents }) =>
    documents.attach(caller, params.transactionId, command, upload as ReadUpload),
})

export const getAttachment = route({
  ...read,
  path: '/attachments/{attachmentId}',
  operationId: 'getAttachment',
  summary: 'Read an attachment',
  success: { status: 200, description: 'The attachment.', schema: Attachment, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { documents }) =>
    resource(await documents.getAttachment(tenant, params.attachmentId)),
})

export const downloadAttachment = route({
  ...read,
  path: '/attachments/{attachmentId}/download',
  operationId: 'downloadAttachment',
  summary: 'Get a link to an attachment',
  success: { status: 200, description: 'A link that expires soon.', schema: DownloadLink },
  problems: ['document-not-ready', 'document-not-clean'],
  handle: async ({ tenant, params }, { documents }) =>
    json(200, (await documents.download('attachment', tenant, params.attachmentId)) ?? refuseNotFound()),
})

export const deleteAttachment = route({
  ...written,
  idempotency: 'none',
  method: 'delete',
  path: '/attachments/{attachmentId}',
  operationId: 'deleteAttachment',
  summary: 'Delete an attachment',
  ifMatch: true,
  current: async ({ tenant, params }, { documents }) =>
    tenant === null ? null : await documents.getAttachment(tenant, params.attachmentId),
  success: { status: 204, description: 'The attachment was deleted.' },
  problems: [],
  handle: async ({ caller, params, expectedVersion }, { documents }) => {
    await documents.deleteAttachment(caller, params.attachmentId, expectedVersion)
    return empty()
  },
})
