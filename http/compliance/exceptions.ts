/** Exceptions: money with an unknown outcome, as the operator's staff see and resolve it. */
import { page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { Exception, exceptionList, ExceptionResolve } from '../../lib/compliance/exception-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'

const STAFF = {
  tag: 'payments',
  callers: 'staff',
  capability: 'operations.manage',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
} as const

export const listExceptions = route({
  ...STAFF,
  method: 'get',
  path: '/exceptions',
  operationId: 'listExceptions',
  summary: 'List exceptions',
  description: 'By default open exceptions.',
  list: exceptionList,
  success: {
    status: 200,
    description: 'A page of exceptions.',
    schema: PageOf('ExceptionPage', Exception),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { compliance }) => page(list, await compliance.listExceptions(list)),
})

export const getException = route({
  ...STAFF,
  method: 'get',
  path: '/exceptions/{exceptionId}',
  operationId: 'getException',
  summary: 'Read an exception',
  success: { status: 200, description: 'The exception.', schema: Exception, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { compliance }) =>
    resource(await compliance.getException(tenant, params.exceptionId)),
})

export const resolveException = route({
  ...STAFF,
  method: 'post',
  path: '/exceptions/{exceptionId}/resolve',
  operationId: 'resolveException',
  summary: 'Resolve an exception',
  description:
    'When the operator requires two people, the first outcome is recorded as a proposal (202), and the same ' +
    'outcome of another person is booked. A different outcome replaces the proposal. A subject under a ' +
    'compliance hold is decided through that hold.',
  body: ExceptionResolve,
  exists: async (tenant, { exceptionId }, { compliance }) =>
    (await compliance.getException(tenant, exceptionId)) !== null,
  success: {
    status: 200,
    description: 'The exception with its outcome.',
    schema: Exception,
    etag: true,
    or: { status: 202, description: 'The exception, which waits for a second person.' },
  },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params, body }, { compliance }) => {
    const { exception, waits } = await compliance.resolve(caller, params.exceptionId, body)
    return resource(exception, waits ? 202 : 200)
  },
})
