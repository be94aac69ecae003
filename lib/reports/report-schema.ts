/** Schemas of reports of the operator's treasury. */
import Type, { type Static } from 'typebox'
import { list } from '../contract/list.ts'
import { CalendarDate, CurrencyCode, Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { ProblemSchema } from '../contract/problem.ts'
import { JOB_STATUSES } from '../jobs/job.ts'
import { REPORT_FORMATS, REPORT_KINDS, type ReportFileFormat } from './report.ts'

const ZONE_MAX = 64
const FORMATS = Object.keys(REPORT_FORMATS) as [ReportFileFormat, ...ReportFileFormat[]]

const Kind = Words(
  'ReportKind',
  REPORT_KINDS,
  '`safeguarding`: per day, connection and currency what is owed to customers, what is at the bank by the books and by the ' +
    "bank's statement, and the surplus or shortfall. `fees`: by customer and posting rule, with the tax within them. " +
    '`volumes`: payments by rail, currency, customer, country and status.',
)
const Format = Words('ReportFileFormat', FORMATS)
const Zone = (description: string) => Text(1, ZONE_MAX, { description, examples: ['Europe/Amsterdam'] })

export const ReportCreate = Type.Object(
  {
    kind: Kind,
    format: Format,
    from: CalendarDate,
    to: Type.String({
      format: 'date',
      description: 'The last day, included; at most 366 days.',
      examples: ['2026-05-31'],
    }),
    timezone: Type.Optional(
      Zone(
        'IANA name: days begin at midnight there; UTC by default. Safeguarding follows the days of the bank, in UTC.',
      ),
    ),
    currency: Type.Optional(CurrencyCode),
    connectionId: Type.Optional(Uuid),
    customerId: Type.Optional(Uuid),
  },
  {
    title: 'ReportCreate',
    additionalProperties: false,
    examples: [{ kind: 'fees', format: 'xlsx', from: '2026-05-01', to: '2026-05-31', timezone: 'Europe/Amsterdam' }],
  },
)
export type ReportCreate = Static<typeof ReportCreate>

export const Report = Type.Object(
  {
    id: Uuid,
    kind: Kind,
    format: Format,
    from: CalendarDate,
    to: CalendarDate,
    timezone: Type.String(),
    currency: Nullable(CurrencyCode),
    connectionId: Nullable(Uuid),
    customerId: Nullable(Uuid),
    status: Words('JobStatus', JOB_STATUSES, '`expired`: the job succeeded, and its result was deleted.'),
    rows: Nullable(Type.Integer({ minimum: 0 })),
    sizeBytes: Nullable(Type.Integer({ minimum: 0 })),
    fileName: Nullable(Type.String()),
    error: Nullable(ProblemSchema),
    requestedBy: Uuid,
    createdAt: Timestamp,
    finishedAt: Nullable(Timestamp),
    expiresAt: Nullable(Timestamp),
  },
  { title: 'Report', description: 'A job that makes a file, which is kept for seven days.' },
)
export type Report = Static<typeof Report>

export const reportList = list({
  filters: {
    kind: { kind: 'words', values: REPORT_KINDS },
    status: { kind: 'words', values: JOB_STATUSES },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})
