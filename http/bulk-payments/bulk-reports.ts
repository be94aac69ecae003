/** Bulk payment files: templates to fill in, and reports on the outcome of a file. */
import { TEMPLATE_FORMATS, type TemplateFormat } from '../../lib/bulk-payments/formats.ts'
import { json } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { BulkReportQuery } from '../../lib/bulk-payments/bulk-report-schema.ts'
import { DownloadLink } from '../../lib/contract/download-link.ts'

const FEATURE = 'payments.bulk'

export const downloadBulkTemplate = route({
  method: 'get',
  path: '/bulk-payments/templates/{format}',
  words: { format: TEMPLATE_FORMATS },
  operationId: 'downloadBulkTemplate',
  tag: 'payments',
  summary: 'Download a template of a bulk file',
  description:
    'All columns there are, with a row for each usual case: a recipient who is known, and new ones in euro, pounds and dollars. Columns that stay empty may be left out; attributes of one’s own are columns `metadata.<key>`.',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'none',
  success: { status: 200, description: 'The file.', contentType: '*/*', etag: true },
  problems: [],
  handle: async ({ params }, { bulkPayments }) => await bulkPayments.template(params.format as TemplateFormat),
})

export const downloadBulkReport = route({
  method: 'get',
  path: '/bulk-payments/{bulkPaymentId}/report',
  operationId: 'downloadBulkReport',
  tag: 'payments',
  summary: 'Get a link to the report on a bulk payment',
  description:
    'Every row with what became of it: its status, its payment, and why it is none. As a table, or as pain.002.001.03. Written when somebody asks, and again when something has changed; a large one may take more than one try.',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'none',
  query: BulkReportQuery,
  limits: ['export'],
  success: { status: 200, description: 'The link.', schema: DownloadLink },
  problems: ['not-found', 'document-not-ready'],
  handle: async ({ tenant, params, query }, { bulkPayments }) =>
    json(200, await bulkPayments.report(tenant, params.bulkPaymentId, query.format ?? 'csv')),
})
