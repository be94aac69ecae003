/** Statements of balances. */
import { json, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { DownloadLink } from '../../lib/contract/download-link.ts'
import { Job } from '../../lib/jobs/job-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'
import { SimulationResult } from '../../lib/contract/simulation.ts'
import {
  SimStatement,
  Statement,
  StatementDownloadQuery,
  statementList,
  StatementRequest,
} from '../../lib/statements/statement-schema.ts'

export const listStatements = route({
  method: 'get',
  path: '/balances/{balanceId}/statements',
  operationId: 'listStatements',
  tag: 'accounts',
  summary: 'List the statements of a balance',
  description: 'Statements of a month are made on the first day of the next month, at 06:00 UTC.',
  callers: 'key',
  scope: 'statements:read',
  tenant: 'customer',
  idempotency: 'none',
  list: statementList,
  success: {
    status: 200,
    description: 'A page of statements.',
    schema: PageOf('StatementPage', Statement),
    etag: true,
  },
  problems: [],
  handle: async ({ list, params }, { statements }) =>
    page(list, await statements.list({ ...list, balanceId: params.balanceId })),
})

export const requestStatement = route({
  method: 'post',
  path: '/balances/{balanceId}/statements',
  operationId: 'requestStatement',
  tag: 'accounts',
  summary: 'Create a statement of any period',
  description:
    'A job makes the statement; its `result.statementId` is the id of the statement. The same request ' +
    'answers with the same job while that job is under way.',
  callers: 'key',
  scope: 'statements:read',
  tenant: 'customer',
  stepUp: { action: 'statement.full_export' },
  idempotency: 'optional',
  limits: ['export'],
  body: StatementRequest,
  exists: (tenant, { balanceId }, { statements }) => statements.hasBalance(tenant, balanceId),
  success: { status: 202, description: 'The job that makes the statement.', schema: Job, etag: true, location: true },
  problems: ['not-found'],
  handle: ({ caller, params, command }, { statements }) => statements.request(caller, command, params.balanceId),
})

export const getStatement = route({
  method: 'get',
  path: '/balances/{balanceId}/statements/{statementId}',
  operationId: 'getStatement',
  tag: 'accounts',
  summary: 'Read a statement',
  callers: 'key',
  scope: 'statements:read',
  tenant: 'customer',
  idempotency: 'none',
  success: { status: 200, description: 'The statement.', schema: Statement, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { statements }) =>
    resource(await statements.get(tenant, params.balanceId, params.statementId)),
})

export const downloadStatement = route({
  method: 'get',
  path: '/balances/{balanceId}/statements/{statementId}/download',
  operationId: 'downloadStatement',
  tag: 'accounts',
  summary: 'Get a download link for a statement',
  description: 'The file has the requested format, by default PDF.',
  callers: 'key',
  scope: 'statements:read',
  tenant: 'customer',
  idempotency: 'none',
  query: StatementDownloadQuery,
  success: { status: 200, description: 'The link.', schema: DownloadLink },
  problems: ['not-found', 'document-not-ready'],
  handle: async ({ tenant, params, query }, { statements }) =>
    json(200, await statements.download(tenant, params.balanceId, params.statementId, query.format ?? 'pdf')),
})

export const simulateStatement = route({
  method: 'post',
  path: '/simulations/statements',
  operationId: 'simulateStatement',
  tag: 'simulations',
  summary: 'Simulate a statement',
  description:
    'Announces the statement of the previous month, and makes it when it is missing. Its files are ready ' +
    'within seconds.',
  callers: 'key',
  scope: 'webhooks:manage',
  tenant: 'customer',
  sandbox: 'simulation',
  idempotency: 'optional',
  limits: ['simulate'],
  body: SimStatement,
  success: { status: 202, description: 'The event was written.', schema: SimulationResult },
  problems: ['not-found', 'simulation-not-possible'],
  handle: ({ caller, body, command }, { statements }) => statements.simulate(caller, body, command.idempotency),
})
