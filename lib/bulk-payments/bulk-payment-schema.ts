/** Bulk payments and their rows. */
import Type, { type Static } from 'typebox'
import { BULK_FILE_FORMATS, BULK_FORMAT_NAMES } from './formats.ts'
import { BULK_STATUSES, ROW_FAILURES, ROW_STATUSES } from './bulk-payment.ts'
import { COLUMNS } from './columns.ts'
import { COLLECTION_TABLE, MANDATE_TABLE } from './debit-columns.ts'
import { BULK_JSON_ROWS_MAX, BULK_NAME_CHARACTERS_MAX } from './limits.ts'
import { FeeTax } from '../pricing/pricing-template-schema.ts'
import { list } from '../contract/list.ts'
import { CalendarDate, CurrencyCode, Money, Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'

const Count = Type.Integer({ minimum: 0 })

export const BulkFormat = Words(
  'BulkFormat',
  BULK_FORMAT_NAMES,
  '`pain001` is pain.001.001.03 or pain.001.001.09. Files of mandates and of collections are told by their format; they need direct debits.',
)

export const BulkPayment = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    number: Type.String(),
    name: Type.String({ description: 'The given name, or else the name of the file or the order number.' }),
    status: Words('BulkStatus', BULK_STATUSES, 'A bulk payment that is `ready` has at least one valid row.'),
    format: BulkFormat,
    fileName: Nullable(Type.String()),
    fileHash: Nullable(Type.String({ description: 'SHA-256 in hex.' })),
    sourceBalanceId: Nullable(Uuid),
    executionDate: Nullable(CalendarDate),
    requireAllValid: Type.Boolean(),
    counts: Type.Object({
      total: Count,
      pending: Count,
      valid: Count,
      invalid: Count,
      submitting: Count,
      submitted: Count,
      failed: Count,
    }),
    totals: Type.Array(
      Type.Object({
        currency: CurrencyCode,
        amountMinor: Type.String(),
        fee: Type.String({ description: 'Minor units.' }),
        rows: Count,
      }),
      { description: 'The totals of valid rows.' },
    ),
    fileErrors: Type.Array(
      Type.Object({ line: Nullable(Type.Integer()), code: Type.String(), message: Type.String() }),
    ),
    warnings: Type.Array(Type.Object({ code: Type.String(), message: Type.String() })),
    duplicateOf: Nullable(Uuid),
    jobId: Nullable(Uuid),
    approvalId: Nullable(Uuid),
    lastProgressAt: Nullable(Timestamp),
    submittedBy: Nullable(Uuid),
    submittedAt: Nullable(Timestamp),
    closedAt: Nullable(Timestamp),
    createdBy: Uuid,
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  {
    title: 'BulkPayment',
    description: 'A file of payments. Its counts change while it is validated and while it is submitted.',
  },
)
export type BulkPayment = Static<typeof BulkPayment>

const RowError = Type.Object({ column: Type.String(), code: Type.String(), message: Type.String() })

export const BulkPaymentRow = Type.Object(
  {
    id: Uuid,
    bulkPaymentId: Uuid,
    rowNumber: Type.Integer({ minimum: 1, description: '1 is the first row with data.' }),
    status: Words('RowStatus', ROW_STATUSES),
    externalId: Nullable(Type.String()),
    recipientId: Nullable(Uuid),
    recipientName: Type.String(),
    maskedIdentifier: Nullable(Type.String()),
    amount: Nullable(Money),
    rail: Nullable(Type.String()),
    reference: Nullable(Type.String()),
    executionDate: Nullable(CalendarDate),
    sourceBalanceId: Nullable(Uuid),
    fee: Nullable(Money),
    feeTax: FeeTax,
    estimatedArrival: Nullable(Timestamp),
    errors: Type.Array(RowError),
    warnings: Type.Array(RowError),
    paymentId: Nullable(Uuid),
    paymentStatus: Nullable(Type.String()),
    mandateId: Nullable(Uuid, { description: 'The mandate that was made from the row of a file of mandates.' }),
    collectionId: Nullable(Uuid, {
      description: 'The collection that was made from the row of a file of collections.',
    }),
    failureCode: Nullable(Words('RowFailure', ROW_FAILURES)),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'BulkPaymentRow' },
)
export type BulkPaymentRow = Static<typeof BulkPaymentRow>

const cell = (maxLength: number) => Nullable(Text(0, maxLength))
const memberOf = ({ name, member, target }: (typeof COLUMNS)[number]): string =>
  target === 'address' ? name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) : member

/** A row of the JSON variant: the columns of a file, named in camelCase, all of them texts. */
const BulkRowInput = Type.Object(
  {
    ...Object.fromEntries(COLUMNS.map((column) => [memberOf(column), Type.Optional(cell(column.maxLength))])),
    notifyRecipient: Type.Optional(Nullable(Type.Boolean())),
    metadata: Type.Optional(
      Type.Record(Type.String({ pattern: '^[A-Za-z0-9_-]{1,40}$' }), Type.String({ maxLength: 500 })),
    ),
  },
  { title: 'BulkRowInput', additionalProperties: false },
)

const options = {
  name: Type.Optional(Nullable(Text(1, BULK_NAME_CHARACTERS_MAX))),
  sourceBalanceId: Type.Optional(Nullable(Uuid)),
  executionDate: Type.Optional(Nullable(CalendarDate)),
  requireAllValid: Type.Optional(
    Type.Boolean({ default: false, description: 'Whether one invalid row makes the whole file invalid.' }),
  ),
  allowDuplicate: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Accepts content that was uploaded before; the bulk payment then has a warning.',
    }),
  ),
  createMissingRecipients: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Creates the recipients that rows describe, unless a recipient with the account exists. Rows whose ' +
        'new recipient needs approval wait for `revalidate`.',
    }),
  ),
  skipPayeeVerification: Type.Optional(Type.Boolean({ default: false, description: 'For business customers only.' })),
  decimalSeparator: Type.Optional(
    Type.Enum(['.', ','], { default: '.', description: 'The character before the decimals of amounts that are text.' }),
  ),
}

export const BulkPaymentCreate = Type.Object(
  { ...options, rows: Type.Array(BulkRowInput, { minItems: 1, maxItems: BULK_JSON_ROWS_MAX }) },
  {
    title: 'BulkPaymentCreate',
    additionalProperties: false,
    examples: [
      {
        name: 'Suppliers',
        rows: [
          {
            recipientId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
            currency: 'EUR',
            amount: '125.00',
            reference: 'Invoice 42',
          },
        ],
      },
    ],
  },
)
export type BulkPaymentCreate = Static<typeof BulkPaymentCreate>

/** The form fields that accompany the uploaded file. */
export const BulkPaymentFields = Type.Object(
  {
    format: Type.Optional(
      Type.Enum(BULK_FILE_FORMATS, { description: 'The format of the file; by default recognised by its content.' }),
    ),
    ...options,
    delimiter: Type.Optional(
      Type.Enum([',', ';', '\t'], { description: 'The separator of CSV; by default recognised in the first line.' }),
    ),
  },
  { title: 'BulkPaymentFields', additionalProperties: false },
)
export type BulkPaymentFields = Static<typeof BulkPaymentFields>

/** The upload as a multipart form, in which every field is a text. */
export const BulkPaymentUpload = Type.Object(
  {
    file: Type.String({
      format: 'binary',
      description: `Columns of CSV and XLSX, in any order: ${COLUMNS.map(({ name }) => name).join(', ')} and metadata.<key>. Files of mandates: ${MANDATE_TABLE.columns.map(({ name }) => name).join(', ')}. Files of collections: ${COLLECTION_TABLE.columns.map(({ name }) => name).join(', ')}. Templates are at \`/bulk-payments/templates/{format}\`.`,
    }),
    ...BulkPaymentFields.properties,
  },
  { title: 'BulkPaymentUpload' },
)

export const bulkPaymentList = list({
  filters: {
    status: { kind: 'words', values: BULK_STATUSES },
    format: { kind: 'words', values: BULK_FORMAT_NAMES },
    createdBy: { kind: 'ids' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})

export const bulkRowList = list({
  filters: {
    status: { kind: 'words', values: ROW_STATUSES },
    recipientId: { kind: 'ids' },
    errorCode: { kind: 'text', max: 40 },
    paymentStatus: { kind: 'text', max: 40 },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['rowNumber', '-rowNumber'],
})
