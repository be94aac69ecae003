/** Exports of transactions. */
import { route } from '../route/route.ts'
import { ExportRequest } from '../../lib/transactions/export-schema.ts'
import { Job } from '../../lib/jobs/job-schema.ts'

export const exportTransactions = route({
  method: 'post',
  path: '/transactions/exports',
  operationId: 'exportTransactions',
  tag: 'activity',
  summary: 'Export transactions',
  description:
    'A job makes the file; for up to 1 000 rows it has ended when the request is answered. A signed-in ' +
    'person needs a step-up for a full export: one without a balance or a start date, or with attachments.',
  callers: 'key',
  scope: 'transactions:read',
  tenant: 'customer',
  stepUp: { action: 'statement.full_export', byBody: true },
  idempotency: 'optional',
  limits: ['export'],
  body: ExportRequest,
  success: { status: 202, description: 'The job that makes the file.', schema: Job, etag: true, location: true },
  problems: [],
  handle: ({ caller, command }, { exports }) => exports.create(caller, command),
})
