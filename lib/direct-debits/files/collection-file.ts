/**
 * Files of direct debits: the collections of one group, or the instructions of mandates, as one file for the bank. A file
 * is one group: one connection, scheme, sequence, due date, currency and creditor. Amounts are bigint minor units, times
 * epoch milliseconds.
 */
import type { CurrencyCode } from '../../base/currency.ts'
import type { MandateScheme } from '../../rails/debit-schemes.ts'
import type { SequenceType } from '../schemes.ts'

/** `collections`: money is collected. `lodging`: mandates are made or cancelled (Bacs 0N, 0C, 0S). */
export const COLLECTION_FILE_KINDS = ['collections', 'lodging'] as const
export type CollectionFileKind = (typeof COLLECTION_FILE_KINDS)[number]

/** The formats, and the name and type of each as a download. */
export const FILE_FORMATS = {
  pain008: { message: 'pain.008.001.08', ending: 'xml', contentType: 'application/xml' },
  std18: { message: 'bacs.standard18', ending: 'txt', contentType: 'text/plain' },
} as const
export type CollectionFileFormat = keyof typeof FILE_FORMATS

/** The format of a scheme's files: Bacs has its own, the others share that of ISO 20022. */
export const formatOfScheme = (scheme: MandateScheme): CollectionFileFormat =>
  scheme === 'bacs_dd' ? 'std18' : 'pain008'

/** `gathering`: its collections are being submitted and its bytes written; staff see it from `generated` on. */
export const COLLECTION_FILE_STATUSES = [
  'gathering',
  'generated',
  'downloaded',
  'accepted',
  'partially_rejected',
  'rejected',
] as const
export type CollectionFileStatus = (typeof COLLECTION_FILE_STATUSES)[number]

/** The statuses that staff see. */
export const SHOWN_FILE_STATUSES = COLLECTION_FILE_STATUSES.filter((status) => status !== 'gathering')

/** What happens to a file. `downloaded` also stands for its delivery to the bank. */
export type CollectionFileMove = 'written' | 'downloaded' | 'accepted' | 'partially_rejected' | 'rejected'

//  gathering ──▶ generated ──▶ downloaded ──▶ accepted ──▶ partially_rejected ──▶ rejected
// A bank may answer a file that was sent by other means, and may reject more of it later; it takes no rejection back.
const MOVES: Readonly<
  Record<CollectionFileStatus, Readonly<Partial<Record<CollectionFileMove, CollectionFileStatus>>>>
> = {
  gathering: { written: 'generated' },
  generated: {
    downloaded: 'downloaded',
    accepted: 'accepted',
    partially_rejected: 'partially_rejected',
    rejected: 'rejected',
  },
  downloaded: {
    downloaded: 'downloaded',
    accepted: 'accepted',
    partially_rejected: 'partially_rejected',
    rejected: 'rejected',
  },
  accepted: {
    downloaded: 'accepted',
    accepted: 'accepted',
    partially_rejected: 'partially_rejected',
    rejected: 'rejected',
  },
  partially_rejected: {
    downloaded: 'partially_rejected',
    accepted: 'partially_rejected',
    partially_rejected: 'partially_rejected',
    rejected: 'rejected',
  },
  rejected: { downloaded: 'rejected', partially_rejected: 'rejected', rejected: 'rejected' },
}

/** Returns the status after a move; null when the move is not allowed. */
export const moveCollectionFile = (
  status: CollectionFileStatus,
  move: CollectionFileMove,
): CollectionFileStatus | null => MOVES[status][move] ?? null

/** The facts that the collections of a file have in common. */
export interface CollectionGroup {
  readonly operatorId: string
  readonly connectionId: string
  readonly kind: CollectionFileKind
  readonly scheme: MandateScheme
  /** Null for a file of instructions. */
  readonly sequenceType: SequenceType | null
  readonly currency: CurrencyCode
  readonly creditorId: string
  readonly creditorName: string
  /** `YYYY-MM-DD`: the due date; of instructions the day on which they are sent. */
  readonly settlementDate: string
}

export interface CollectionFileRecord extends CollectionGroup {
  readonly id: string
  readonly format: CollectionFileFormat
  /** The id that the bank's answers name: of the message, or the serial number of a submission to Bacs. */
  readonly messageId: string
  readonly status: CollectionFileStatus
  /** Zero and null until the file is written. */
  readonly count: number
  readonly controlSum: bigint
  readonly sha256: string | null
  readonly storedFileId: string | null
  readonly createdAt: number
  readonly generatedAt: number | null
  readonly downloadedAt: number | null
}

/** Returns the name of a file as staff download it. */
export const collectionFileName = ({
  scheme,
  kind,
  settlementDate,
  messageId,
  format,
}: Pick<CollectionFileRecord, 'scheme' | 'kind' | 'settlementDate' | 'messageId' | 'format'>): string =>
  `${scheme.replaceAll('_', '-')}-${kind}-${settlementDate}-${messageId}.${FILE_FORMATS[format].ending}`

/**
 * Returns the serial number of a submission to Bacs from the file's number: six digits of base 36, so that a service
 * user gets a number again only after two thousand million files.
 */
export const serialNumberOf = (number: number): string => (number % 36 ** 6).toString(36).toUpperCase().padStart(6, '0')
