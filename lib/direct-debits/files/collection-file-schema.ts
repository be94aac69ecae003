/** Schemas of files of direct debits. */
import Type, { type Static } from 'typebox'
import { CalendarDate, Money, Nullable, Timestamp, Uuid, Words } from '../../contract/primitives.ts'
import { list } from '../../contract/list.ts'
import { MANDATE_SCHEMES } from '../../rails/debit-schemes.ts'
import { SEQUENCE_TYPES } from '../schemes.ts'
import { COLLECTION_FILE_KINDS, SHOWN_FILE_STATUSES } from './collection-file.ts'

export const CollectionFile = Type.Object(
  {
    id: Uuid,
    connectionId: Uuid,
    kind: Words('CollectionFileKind', COLLECTION_FILE_KINDS),
    scheme: Words('MandateScheme', MANDATE_SCHEMES),
    messageId: Type.String({ description: 'The id by which the bank names the file.', examples: ['8N4WQZK3'] }),
    creditorId: Type.String({ examples: ['DE98ZZZ09999999999'] }),
    settlementDate: CalendarDate,
    sequenceType: Nullable(Words('SequenceType', SEQUENCE_TYPES)),
    count: Type.Integer({ minimum: 0 }),
    controlSum: Money,
    sha256: Type.String({
      pattern: '^[0-9a-f]{64}$',
      examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
    }),
    status: Words('CollectionFileStatus', SHOWN_FILE_STATUSES),
    fileName: Type.String(),
    createdAt: Timestamp,
    generatedAt: Timestamp,
    downloadedAt: Nullable(Timestamp),
  },
  { title: 'CollectionFile' },
)
export type CollectionFile = Static<typeof CollectionFile>

export const collectionFileList = list({
  filters: {
    scheme: { kind: 'words', values: MANDATE_SCHEMES },
    status: { kind: 'words', values: SHOWN_FILE_STATUSES },
    connectionId: { kind: 'ids' },
    settlementFrom: { kind: 'dateFrom' },
    settlementTo: { kind: 'dateTo' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})
