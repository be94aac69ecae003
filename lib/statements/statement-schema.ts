/** Schemas of statements of balances. */
import Type, { type Static } from 'typebox'
import { STATEMENT_FORMATS, STATEMENT_KINDS, STATEMENT_STATUSES } from './statement.ts'
import { list } from '../contract/list.ts'
import { CalendarDate, CurrencyCode, Money, Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'

export const StatementFormat = Words('StatementFormat', STATEMENT_FORMATS, '`camt053` is camt.053.001.08.')

export const Statement = Type.Object(
  {
    id: Uuid,
    balanceId: Uuid,
    kind: Words('StatementKind', STATEMENT_KINDS),
    sequenceNumber: Type.Integer({
      minimum: 1,
      description: 'The number of the statement, counted per balance and kind.',
    }),
    from: CalendarDate,
    to: Type.String({ format: 'date', description: 'The last day, included. Days are those of UTC.' }),
    currency: CurrencyCode,
    openingBalance: Money,
    closingBalance: Money,
    totalCredits: Money,
    totalDebits: Money,
    lineCount: Type.Integer({ minimum: 0 }),
    formats: Type.Array(StatementFormat, { description: 'The formats that are ready.' }),
    status: Words('StatementStatus', STATEMENT_STATUSES),
    jobId: Nullable(Uuid),
    createdAt: Timestamp,
  },
  {
    title: 'Statement',
    description:
      'The lines of a balance that were booked in a period. A statement never changes: a line booked late ' +
      'for a month is in the statement of the next month.',
  },
)
export type Statement = Static<typeof Statement>

const LANGUAGE_MAX = 35

export const StatementRequest = Type.Object(
  {
    from: CalendarDate,
    to: Type.String({ format: 'date', description: 'Included; not in the future, and at most 366 days in all.' }),
    formats: Type.Array(StatementFormat, { minItems: 1, maxItems: STATEMENT_FORMATS.length, uniqueItems: true }),
    language: Type.Optional(
      Text(2, LANGUAGE_MAX, {
        description: 'The language of the statement; only English is available.',
        examples: ['en'],
      }),
    ),
  },
  {
    title: 'StatementRequest',
    additionalProperties: false,
    examples: [{ from: '2026-01-01', to: '2026-03-31', formats: ['pdf', 'camt053'] }],
  },
)
export type StatementRequest = Static<typeof StatementRequest>

export const StatementDownloadQuery = Type.Object({ format: Type.Optional(StatementFormat) })

export const SimStatement = Type.Object(
  { balanceId: Uuid },
  {
    title: 'SimStatement',
    additionalProperties: false,
    examples: [{ balanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f' }],
  },
)
export type SimStatement = Static<typeof SimStatement>

export const statementList = list({
  filters: {
    kind: { kind: 'words', values: STATEMENT_KINDS },
    from: { kind: 'dateFrom' },
    to: { kind: 'dateTo' },
    status: { kind: 'words', values: STATEMENT_STATUSES },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-to', 'to'],
})
