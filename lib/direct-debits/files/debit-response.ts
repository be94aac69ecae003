/** An answer of a bank about direct debits: uploaded and read by one person, applied by another. Times epoch milliseconds. */
import type { AskedMessage, ResponseLine } from './responses.ts'
import type { ResponseFormat } from './response-reading.ts'

/** `ready`: its preview waits for another person. */
export const DEBIT_RESPONSE_STATUSES = ['ready', 'applying', 'applied'] as const
export type DebitResponseStatus = (typeof DEBIT_RESPONSE_STATUSES)[number]

/** The largest file that is taken, bytes: some hundred thousand lines. */
export const RESPONSE_BYTES_MAX = 64 * 1024 * 1024
/** Lines of one file. */
export const RESPONSE_LINES_MAX = 200_000

export interface DebitResponseRecord {
  /** The id of the job that shows the preview. */
  readonly id: string
  readonly operatorId: string
  readonly fileName: string
  readonly storedFileId: string
  /** 64 lower-case hex digits. */
  readonly sha256: string
  readonly format: ResponseFormat
  readonly status: DebitResponseStatus
  readonly lineCount: number
  /** Lines that change something. */
  readonly changeCount: number
  /** Lines that name nothing of ours, or contradict what is known. */
  readonly troubleCount: number
  readonly uploadedBy: string
  readonly uploadedByName: string
  readonly appliedBy: string | null
  readonly appliedByName: string | null
  readonly appliedAt: number | null
  readonly applyJobId: string | null
  readonly createdAt: number
}

/** A line of the preview with its place in the file, and the connection whose object it is about. */
export interface PreviewLine extends ResponseLine {
  readonly nth: number
  readonly connectionId: string | null
}

/** Writes the messages of a line as JSON; amounts are text. */
export const messagesText = (messages: readonly AskedMessage[]): string =>
  JSON.stringify(
    messages.map(({ amount, ...message }) => ({ ...message, amount: amount === null ? null : amount.toString() })),
  )

/** Reads the messages of a line. */
export const messagesOfText = (kept: readonly object[]): readonly AskedMessage[] =>
  (kept as readonly (Omit<AskedMessage, 'amount'> & { readonly amount: string | null })[]).map(
    ({ amount, ...message }) => ({ ...message, amount: amount === null ? null : BigInt(amount) }),
  )
