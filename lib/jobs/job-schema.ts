/** Schemas of jobs: work that is requested now and done soon. */
import Type, { type Static } from 'typebox'
import { JOB_KINDS, JOB_STATUSES } from './job.ts'
import { list } from '../contract/list.ts'
import { DownloadLink } from '../contract/download-link.ts'
import { Nullable, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { ProblemSchema } from '../contract/problem.ts'

export const JobStatus = Words('JobStatus', JOB_STATUSES, '`expired`: the job succeeded, and its result was deleted.')

export const Job = Type.Object(
  {
    id: Uuid,
    kind: Words('JobKind', JOB_KINDS),
    status: JobStatus,
    progress: Type.Object({
      processed: Type.Integer({ minimum: 0 }),
      total: Nullable(Type.Integer({ minimum: 0, description: 'Null while it is not known.' })),
      ratePerSecond: Nullable(Type.Number({ minimum: 0, description: 'Present while the job runs.' })),
      etaSeconds: Nullable(
        Type.Integer({ minimum: 0, description: 'Present while the job runs and `total` is known.' }),
      ),
    }),
    subject: Nullable(
      Type.Object(
        { object: Type.String({ examples: ['balance'] }), id: Uuid },
        { description: 'The object that the job works for.' },
      ),
    ),
    result: Nullable(
      Type.Object(
        {
          fileName: Nullable(Type.String()),
          contentType: Nullable(Type.String()),
          sizeBytes: Nullable(Type.Integer({ minimum: 0 })),
          rows: Nullable(Type.Integer({ minimum: 0 })),
          download: Nullable(DownloadLink),
          statementId: Nullable(Uuid),
          counts: Nullable(Type.Record(Type.String(), Type.Integer())),
        },
        { description: 'Present for seven days after the job has succeeded.' },
      ),
    ),
    error: Nullable(ProblemSchema),
    requestedBy: Uuid,
    createdAt: Timestamp,
    startedAt: Nullable(Timestamp),
    finishedAt: Nullable(Timestamp),
    expiresAt: Nullable(Timestamp),
  },
  { title: 'Job' },
)
export type Job = Static<typeof Job>

export const jobList = list({
  filters: {
    kind: { kind: 'words', values: JOB_KINDS },
    status: { kind: 'words', values: JOB_STATUSES },
    requestedBy: { kind: 'ids' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt'],
})
