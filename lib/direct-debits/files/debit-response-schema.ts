/** Schemas of banks' answers about direct debits. */
import Type, { type Static } from 'typebox'
import { Nullable, Timestamp, Uuid, Words } from '../../contract/primitives.ts'
import { list } from '../../contract/list.ts'
import { DEBIT_RESPONSE_STATUSES } from './debit-response.ts'
import { RESPONSE_FORMATS } from './response-reading.ts'

export const CollectionResponseUpload = Type.Object(
  {
    file: Type.String({
      format: 'binary',
      description:
        'pain.002, camt.053, camt.054 of ISO 20022, or AUDDIS, ADDACS, ARUDD, DDICA of Bacs, in XML of up to 64 MiB.',
    }),
  },
  { title: 'CollectionResponseUpload' },
)

export const DebitResponse = Type.Object(
  {
    id: Uuid,
    jobId: Type.String({ format: 'uuid', description: 'The job of the upload.' }),
    fileName: Type.String({ examples: ['pain002-2026-05-04.xml'] }),
    sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    format: Words('DebitResponseFormat', RESPONSE_FORMATS),
    status: Words('DebitResponseStatus', DEBIT_RESPONSE_STATUSES, '`ready`: another person may apply it.'),
    lines: Type.Integer({ minimum: 0 }),
    changes: Type.Integer({ minimum: 0, description: 'Lines that change something.' }),
    troubles: Type.Integer({
      minimum: 0,
      description: 'Lines that name nothing of ours, or contradict what is known.',
    }),
    uploadedBy: Uuid,
    uploadedByName: Type.String(),
    appliedBy: Nullable(Uuid),
    appliedByName: Nullable(Type.String()),
    appliedAt: Nullable(Timestamp),
    applyJobId: Nullable(Uuid),
    createdAt: Timestamp,
  },
  { title: 'DebitResponse' },
)
export type DebitResponse = Static<typeof DebitResponse>

export const debitResponseList = list({
  filters: {
    status: { kind: 'words', values: DEBIT_RESPONSE_STATUSES },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})

const LINE_FAULTS = [
  'not_ours',
  'wrong_amount',
  'wrong_currency',
  'contradiction',
  'already_told',
  'information',
] as const

export const DebitResponseLine = Type.Object(
  {
    line: Type.Integer({ minimum: 1 }),
    object: Words('DebitResponseObject', ['collection', 'mandate', 'file']),
    objectId: Nullable(Uuid),
    named: Type.String({ description: 'The name that the bank used.' }),
    from: Nullable(Type.String({ description: 'The status before the line.' })),
    to: Nullable(Type.String({ description: 'The status after it.' })),
    reasonCode: Nullable(Type.String()),
    text: Type.String(),
    fault: Nullable(Words('DebitResponseFault', LINE_FAULTS, 'Why the line changes nothing.')),
    applied: Type.Boolean(),
  },
  { title: 'DebitResponseLine' },
)
export type DebitResponseLine = Static<typeof DebitResponseLine>

export const debitResponseLineList = list({
  filters: { fault: { kind: 'words', values: LINE_FAULTS } },
  sorts: ['line'],
})
