/** Reports of the operator's treasury. */
import { json, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { DownloadLink } from '../../lib/contract/download-link.ts'
import { PageOf } from '../../lib/contract/page.ts'
import { Report, ReportCreate, reportList } from '../../lib/reports/report-schema.ts'

const READ = {
  tag: 'accounts',
  callers: 'key',
  scope: 'reports:read',
  tenant: 'operator',
  idempotency: 'none',
} as const

export const listReports = route({
  ...READ,
  method: 'get',
  path: '/reports',
  operationId: 'listReports',
  summary: 'List reports',
  list: reportList,
  success: { status: 200, description: 'A page of reports.', schema: PageOf('ReportPage', Report), etag: true },
  problems: [],
  handle: async ({ list }, { reports }) => page(list, await reports.list(list)),
})

export const createReport = route({
  tag: 'accounts',
  callers: 'staff',
  capability: 'reports.read',
  scope: null,
  tenant: 'operator',
  method: 'post',
  path: '/reports',
  operationId: 'createReport',
  summary: 'Ask for a report',
  description: 'A job makes the file. Read the report until its status is `succeeded`, then ask for the download.',
  idempotency: 'optional',
  limits: ['export'],
  body: ReportCreate,
  success: { status: 202, description: 'The report, which is being made.', schema: Report, etag: true, location: true },
  problems: [],
  handle: ({ caller, command }, { reports }) => reports.create(caller, command),
})

export const getReport = route({
  ...READ,
  method: 'get',
  path: '/reports/{reportId}',
  operationId: 'getReport',
  summary: 'Read a report',
  success: { status: 200, description: 'The report.', schema: Report, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { reports }) => resource(await reports.get(tenant, params.reportId)),
})

export const downloadReport = route({
  ...READ,
  method: 'get',
  path: '/reports/{reportId}/download',
  operationId: 'downloadReport',
  summary: 'Download a report',
  success: { status: 200, description: 'A link to the file.', schema: DownloadLink },
  problems: ['document-not-ready'],
  handle: async ({ tenant, params }, { reports }) => json(200, await reports.download(tenant, params.reportId)),
})
