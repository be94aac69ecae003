/** Schemas of exports of transactions. */
import Type, { type Static } from 'typebox'
import { EXPORT_COLUMNS, EXPORT_FORMATS } from './transaction-table.ts'
import { Nullable, Text, Words } from '../contract/primitives.ts'

const COLUMNS_MAX = 50
const COLUMN_MAX = 40
const FILTER_MAX = 4_000

const FilterValue = Type.Union([
  Type.String({ minLength: 1, maxLength: FILTER_MAX }),
  Type.Boolean(),
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 100 }),
])

export const ExportRequest = Type.Object(
  {
    format: Words(
      'ExportFormat',
      EXPORT_FORMATS,
      '`camt053` and `mt940` are bank statements of one balance: their lines lead from the opening to the ' +
        'closing balance, so no line may be left out. Therefore they accept only the filters `balanceId`, ' +
        '`bookedFrom` and `bookedTo`, and neither `q` nor `includeAnnotations`; every other filter is refused ' +
        'with `not_applicable`.',
    ),
    filter: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z]{1,40}$' }), FilterValue, {
        description:
          'The filters of `listTransactions` by their names; several values as a list, or with commas between them.',
        additionalProperties: false,
        maxProperties: 30,
        examples: [
          { balanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f', bookedFrom: '2026-01-01', bookedTo: '2026-03-31' },
        ],
      }),
    ),
    q: Type.Optional(Nullable(Text(2, 100, { description: 'As in `listTransactions`.' }))),
    columns: Type.Optional(
      Type.Array(Text(1, COLUMN_MAX), {
        minItems: 1,
        maxItems: COLUMNS_MAX,
        uniqueItems: true,
        description: `Of CSV and XLSX, in this order: ${EXPORT_COLUMNS.join(', ')}.`,
      }),
    ),
    timezone: Type.Optional(
      Text(1, 64, { description: 'IANA name; times of CSV and XLSX are shown in it.', examples: ['Europe/Amsterdam'] }),
    ),
    decimalSeparator: Type.Optional(
      Words(
        'DecimalSeparator',
        ['.', ','],
        'The decimal separator of CSV; with a comma, fields are separated by semicolons.',
      ),
    ),
    includeAnnotations: Type.Optional(Type.Boolean()),
    includeAttachments: Type.Optional(
      Type.Boolean({ description: 'The result is a ZIP with the export and the attachments.' }),
    ),
  },
  {
    title: 'ExportRequest',
    additionalProperties: false,
    examples: [
      { format: 'csv', filter: { bookedFrom: '2026-01-01', bookedTo: '2026-03-31' }, timezone: 'Europe/Amsterdam' },
    ],
  },
)
export type ExportRequest = Static<typeof ExportRequest>
