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
    'The template has all columns and a row for each usual case: an existing recipient, and new recipients ' +
    'in euro, pounds and dollars. Empty columns may be left out; columns `metadata.<key>` hold your own ' +
    'attributes.',
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
    'The report has every row with its status, its payment, and its failure. It is a table or a ' +
    'pain.002.001.03 message, written at the first request and again after a change. A large report may not ' +
    'be ready in time: repeat the request then.',
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
