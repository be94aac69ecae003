/**
 * The ways out of an adapter to the files that are exchanged with a provider: the place where they are exchanged, and
 * the book that says which file and which order is where. The book is durable: what a method has put into it before it
 * resolved, it holds after a crash.
 */
import type { OrderChange, StatementPage, NewBookEvent } from '../../../lib/providers/files/file-contents.ts'
import type { CalendarTerms } from '../../../lib/rails/business-days.ts'
import type { CurrencyCode } from '../../../lib/base/currency.ts'
import type { FileOrderState, FileOrderStatus } from '../../../lib/providers/files/order-state.ts'
import type { BankFileItem } from '../../../lib/providers/iso20022/reports.ts'
import type { Rail } from '../../../lib/rails/rails.ts'
import { OperatingError } from '../../../lib/base/errors.ts'

export interface PartnerFiles {
  /** Opens a place; speaks to nobody yet. @throws Error for a place that this service has not, in words for staff */
  place(endpoint: FileEndpoint): FilePlace
  /** Opens the book of a connection. */
  book(connection: BookOwner): FileBook
  /**
   * Reads a file of a bank in a thread of its own. The items count only when the answer has no fault.
   *
   * @throws errors of the pieces and of `take`
   */
  read(
    pieces: AsyncIterable<Uint8Array>,
    take: (items: readonly BankFileItem[]) => Promise<void>,
  ): Promise<{ readonly format: string | null; readonly fault: string | null }>
}

// ── The place
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The place of a connection's files. Paths have no segment that leads upwards. */
export interface FileEndpoint {
  readonly connectionId: string
  readonly paths: { readonly outgoing: string; readonly incoming: string; readonly archive: string | null }
  readonly timeoutMs: number
  /** Null for a directory of the service. */
  readonly server: {
    readonly host: string
    readonly port: number
    readonly username: string
    /** `SHA256:…`, as OpenSSH prints them. */
    readonly hostKeys: readonly string[]
    readonly password: string | null
    readonly privateKey: string | null
    readonly passphrase: string | null
  } | null
}

/** A file in the folder of what the provider sends. */
export interface FoundFile {
  readonly name: string
  readonly bytes: number
  /** Epoch milliseconds. */
  readonly modifiedAt: number
}

/** The place does not answer, refuses the credentials, or shows another key than it should. */
export class PlaceUnreachable extends OperatingError {
  override readonly name = 'PlaceUnreachable'
}

export interface FilePlace {
  /** Where the files for the provider go: other places have other names. No secret is part of it. */
  readonly name: string
  /**
   * Runs work in one session at the place.
   *
   * @throws PlaceUnreachable, and what the work throws
   */
  use<Result>(work: (session: FileSession) => Promise<Result>): Promise<Result>
  /** Opens a session and looks into both folders. @returns how long that took, milliseconds @throws PlaceUnreachable */
  probe(): Promise<number>
}

/** Each method throws PlaceUnreachable when its outcome is unknown. */
export interface FileSession {
  /** Lists the whole files of the provider, oldest first: none that it hides, or is still writing by its name. */
  list(): Promise<readonly FoundFile[]>
  /** Reads a file of the provider, piece by piece. */
  read(name: string): AsyncIterable<Uint8Array>
  /** Moves a file of the provider to the archive, under a name that no other file has there. */
  archive(name: string, newName: string): Promise<void>
  /** Whether there is a file in the folder for the provider. Throws when the folder itself is missing. */
  has(name: string): Promise<boolean>
  /** Writes a file into the folder for the provider, in place of one with that name, and makes it durable. */
  write(name: string, pieces: AsyncIterable<Uint8Array>): Promise<void>
  /** Renames a file in that folder in one step. */
  rename(from: string, to: string): Promise<void>
  /** Removes a file from that folder; none is no error. */
  remove(name: string): Promise<void>
}

// ── The book
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface BookOwner {
  readonly connectionId: string
  readonly operatorId: string
}

/** An order that waits for its file. */
export interface NewFileOrder {
  readonly reference: string
  readonly rail: Rail
  readonly currency: CurrencyCode
  /** Minor units. */
  readonly amount: bigint
  readonly endToEndId: string
  readonly uetr: string | null
  /** The order as its file is to say it, as text. */
  readonly body: string
  /** When its file is to be sent, epoch milliseconds. */
  readonly dueAt: number
}

/** A file for the provider, taken by one attempt to send it. */
export interface TakenFile {
  readonly id: string
  readonly lease: string
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** Null until it is written. */
  readonly written: { readonly name: string } | null
  /** The name under which an attempt has put it at a place, ready to be renamed; null before. */
  readonly temporary: { readonly name: string; readonly place: string } | null
}

/** The facts of a written file. */
export interface WrittenFile {
  readonly name: string
  readonly format: string
  readonly messageId: string
  readonly orders: number
  /** Minor units. */
  readonly controlSum: bigint
  /** The block of each order, by its reference. */
  readonly blocks: ReadonlyMap<string, string>
}

/** An order of the book, as far as the bank's files can name and change it. */
export interface OrderInBook extends FileOrderState {
  readonly reference: string
  readonly currency: string
  readonly endToEndId: string
  readonly uetr: string | null
  readonly messageId: string | null
  readonly blockId: string | null
  /** The file in which it was sent last. */
  readonly fileId: string
  /** Whether it collects money: a credit settles it, and a debit takes the money back. */
  readonly isCollection: boolean
}

/** The names by which a file of the bank may mean orders. */
export interface OrderNames {
  readonly references: readonly string[]
  readonly endToEndIds: readonly string[]
  readonly uetrs: readonly string[]
  /** Ids of whole files that were sent to the bank. */
  readonly messageIds: readonly string[]
  readonly blockIds: readonly string[]
}

/** An event of the book, in the form in which the inbox takes it. */
export interface BookEvent extends NewBookEvent {
  readonly eventId: string
  readonly headers: Readonly<Record<string, string>>
  /** Epoch milliseconds. */
  readonly occurredAt: number | null
}

/** The contents of a file of the bank, as they are written. */
export interface FileContents {
  readonly format: string
  /** The id that the bank gave to the message; null where it has none. */
  readonly messageId: string | null
  readonly changes: readonly OrderChange[]
  readonly events: readonly NewBookEvent[]
  readonly statements: readonly StatementPage[]
}

export interface FileBook {
  /** The cut-offs and closed days of the connection. */
  calendar(): Promise<CalendarTerms>
  /**
   * Puts orders into the files that gather those of their rail and currency, and closes a file that holds `ordersMax`. A
   * reference that the book has stays as it is.
   */
  gather(orders: readonly NewFileOrder[], ordersMax: number, now: number): Promise<void>
  /** Returns the states of orders; references that the book has not are absent. */
  states(references: readonly string[]): Promise<ReadonlyMap<string, FileOrderOutcome>>

  /** Takes a file that is due, and closes it; null when the provider has it, or it is not due. */
  take(id: string, now: number): Promise<TakenFile | null>
  /** Reads the bodies of the orders of a file, in its order. */
  orders(id: string): Promise<readonly string[]>
  /** Keeps the bytes of a file. @throws OperatingError when another attempt has taken it */
  keep(file: TakenFile, written: WrittenFile, pieces: AsyncIterable<Uint8Array>, now: number): Promise<void>
  /** Reads the bytes of a written file, for as often as it is sent. */
  bytes(id: string): Promise<AsyncIterable<Uint8Array>>
  /**
   * Notes that the file is at a place under a temporary name, to be renamed. @returns false when another attempt has
   * taken the file
   */
  handOver(file: TakenFile, temporary: NonNullable<TakenFile['temporary']>): Promise<boolean>
  /** Notes that the provider has the file. */
  sent(file: TakenFile, now: number): Promise<void>
  /** Notes why an attempt failed, for staff, and when the next one is due (epoch milliseconds). */
  failed(file: TakenFile, reason: string, dueAt: number): Promise<void>

  /** Returns which of the files that were found have not been read yet. */
  unread(found: readonly FoundFile[]): Promise<readonly FoundFile[]>
  /**
   * Keeps a file of the provider. `isNew` is false for bytes that have been read before.
   *
   * @throws FileTooLarge
   */
  receive(
    file: FoundFile,
    pieces: AsyncIterable<Uint8Array>,
    now: number,
  ): Promise<{ readonly id: string; readonly sha256: string; readonly isNew: boolean }>
  /**
   * Reads the orders that a file names, locked, and writes what it came to, in one transaction with them.
   *
   * @param interpret pure: called again when the transaction is repeated
   */
  settle(
    id: string,
    names: OrderNames,
    interpret: (orders: readonly OrderInBook[]) => FileContents,
    now: number,
  ): Promise<void>
  /**
   * Notes that a file cannot be read. The provider may still be writing it, so staff are told, by the event, when the
   * same bytes are found again.
   */
  refuse(id: string, fault: string, event: NewBookEvent, now: number): Promise<void>
  /** Lists events in their order, from `since` (epoch milliseconds) on or after a cursor. */
  events(
    since: number,
    cursor: string | null,
    max: number,
  ): Promise<{ readonly events: readonly BookEvent[]; readonly cursor: string | null }>
  /** Reads the statement of a day as camt.053; null while there is none. */
  statement(currency: string, day: string): Promise<AsyncIterable<Uint8Array> | null>
}

/** The outcome of an order, as the book knows it. */
export interface FileOrderOutcome {
  readonly status: FileOrderStatus
  readonly schemeCode: string | null
  /** Minor units. */
  readonly returnedAmount: bigint | null
  readonly bankRef: string | null
}
