/** Jobs. */
import { page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { Job, jobList } from '../../lib/jobs/job-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'

export const listJobs = route({
  method: 'get',
  path: '/jobs',
  operationId: 'listJobs',
  tag: 'activity',
  summary: 'List jobs',
  callers: 'key',
  scope: 'transactions:read',
  tenant: 'any',
  idempotency: 'none',
  list: jobList,
  success: { status: 200, description: 'A page of jobs.', schema: PageOf('JobPage', Job), etag: true },
  problems: [],
  handle: async ({ list }, { jobs }) => page(list, await jobs.list(list)),
})

export const getJob = route({
  method: 'get',
  path: '/jobs/{jobId}',
  operationId: 'getJob',
  tag: 'activity',
  summary: 'Read a job',
  description:
    'Poll the job until it has ended. The link to its result stays the same for a minute, so that `If-None-Match` ' +
    'is answered with 304 while nothing has changed; read the job again for a new link.',
  callers: 'key',
  scope: 'transactions:read',
  tenant: 'any',
  idempotency: 'none',
  success: { status: 200, description: 'The job.', schema: Job, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { jobs }) => resource(await jobs.get(tenant, params.jobId)),
})

export const cancelJob = route({
  method: 'post',
  path: '/jobs/{jobId}/cancel',
  operationId: 'cancelJob',
  tag: 'activity',
  summary: 'Cancel a job',
  description:
    'A job can be cancelled while it is queued or runs. A person can cancel any job of the tenant, a key ' +
    'only its own jobs.',
  callers: 'key',
  scope: 'transactions:read',
  tenant: 'any',
  idempotency: 'optional',
  success: { status: 200, description: 'The cancelled job.', schema: Job },
  problems: ['not-found', 'not-cancellable'],
  handle: ({ caller, params, command }, { jobs }) => jobs.cancel(caller, params.jobId, command.idempotency),
})
