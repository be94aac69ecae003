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
    'A job makes the file; up to 1 000 rows it is over when this is answered. Signed-in people prove themselves for an export of everything: one that names no balance or no beginning, or that includes attachments.',
  callers: 'key',
  scope: 'transactions:read',
  tenant: 'customer',
  stepUp: { action: 'statement.full_export', byBody: true },
  idempotency: 'optional',
  limits: ['export'],
  body: ExportRequest,
  success: { status: 202, description: 'The job that makes it.', schema: Job, etag: true, location: true },
  problems: [],
  handle: ({ caller, command }, { exports }) => exports.create(caller, command),
})
