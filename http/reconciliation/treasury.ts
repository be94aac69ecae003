/** The operator's books as a whole: reconciliation with its partners, and the trial balance. */
import Type from 'typebox'
import { json, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { PageOf } from '../../lib/contract/page.ts'
import { Timestamp } from '../../lib/contract/primitives.ts'
import {
  BreakResolve,
  Reconciliation,
  ReconciliationBreak,
  reconciliationBreakList,
  reconciliationList,
  ReconciliationRun,
  ReconciliationRunAccepted,
  TrialBalance,
} from '../../lib/reconciliation/reconciliation-schema.ts'

const READ = {
  tag: 'accounts',
  callers: 'key',
  scope: 'treasury:read',
  tenant: 'operator',
  idempotency: 'none',
} as const

export const listReconciliations = route({
  ...READ,
  method: 'get',
  path: '/reconciliations',
  operationId: 'listReconciliations',
  summary: 'List reconciliations',
  description:
    "There is one reconciliation for each day, connection and currency: it compares the partner's statement " +
    'with the ledger.',
  list: reconciliationList,
  success: {
    status: 200,
    description: 'A page of reconciliations.',
    schema: PageOf('ReconciliationPage', Reconciliation),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { reconciliation }) => page(list, await reconciliation.listReconciliations(list)),
})

export const runReconciliations = route({
  ...READ,
  method: 'post',
  path: '/reconciliations',
  operationId: 'runReconciliations',
  summary: 'Start reconciliations',
  description:
    'Reconciliations run by themselves an hour after midnight UTC. This operation runs them now, and repeats ' +
    'days that failed; at most a month per request.',
  body: ReconciliationRun,
  bodyOptional: true,
  success: {
    status: 202,
    description: 'The number of reconciliations that were started.',
    schema: ReconciliationRunAccepted,
  },
  problems: [],
  handle: async ({ caller, body }, { reconciliation }) =>
    json(202, await reconciliation.runReconciliations(caller, body)),
})

export const getReconciliation = route({
  ...READ,
  method: 'get',
  path: '/reconciliations/{reconciliationId}',
  operationId: 'getReconciliation',
  summary: 'Read a reconciliation',
  success: { status: 200, description: 'The reconciliation.', schema: Reconciliation, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { reconciliation }) =>
    resource(await reconciliation.getReconciliation(tenant, params.reconciliationId)),
})

export const listReconciliationBreaks = route({
  ...READ,
  method: 'get',
  path: '/reconciliations/{reconciliationId}/breaks',
  operationId: 'listReconciliationBreaks',
  summary: 'List the items of a reconciliation',
  description:
    "The items that explained or caused a difference between the partner's balance and the ledger at the end " +
    'of the day, with their present status: timing items and breaks.',
  list: reconciliationBreakList,
  success: {
    status: 200,
    description: 'A page of breaks.',
    schema: PageOf('ReconciliationBreakPage', ReconciliationBreak),
    etag: true,
  },
  problems: [],
  handle: async ({ list, params }, { reconciliation }) =>
    page(list, await reconciliation.listBreaks(list, params.reconciliationId)),
})

export const resolveReconciliationBreak = route({
  tag: 'accounts',
  callers: 'staff',
  capability: 'treasury.manage',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
  method: 'post',
  path: '/reconciliations/{reconciliationId}/breaks/{breakId}/resolve',
  operationId: 'resolveReconciliationBreak',
  summary: 'Resolve a break',
  description:
    'When the outcome moves money and the operator requires two people, the first outcome is recorded as a ' +
    'proposal (202), and the same outcome of another person is booked. Credits in suspense are allocated or ' +
    'returned with `/incoming-suspense`.',
  body: BreakResolve,
  exists: async (tenant, params, { reconciliation }) => (await reconciliation.getBreak(tenant, params)) !== null,
  success: {
    status: 200,
    description: 'The break after the change.',
    schema: ReconciliationBreak,
    etag: true,
    or: { status: 202, description: 'The break, which waits for a second person.' },
  },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params, body }, { reconciliation }) => {
    const { found, waits } = await reconciliation.resolveBreak(caller, params, body)
    return resource(found, waits ? 202 : 200)
  },
})

export const getTrialBalance = route({
  ...READ,
  method: 'get',
  path: '/ledger/trial-balance',
  operationId: 'getTrialBalance',
  summary: 'Read the trial balance',
  description: 'The debits and credits of every account of the chart, per connection and currency.',
  query: Type.Object({ asOf: Type.Optional(Timestamp) }),
  success: { status: 200, description: 'The trial balance.', schema: TrialBalance },
  problems: [],
  handle: async ({ tenant, query }, { reconciliation }) =>
    json(200, await reconciliation.trialBalance(tenant.id, query.asOf ?? null)),
})
