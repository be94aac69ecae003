/**
 * Makes the lines of a bank's answer, batch by batch: looks up what the items name, and keeps what earlier lines of the
 * file have changed, so that a credit and a return in one file follow each other.
 */
import {
  dueDatesOf,
  claimVerdict,
  collectionLine,
  mandateLine,
  noteLine,
} from '../../../lib/direct-debits/files/responses.ts'
import {
  bookedVerdict,
  reportedVerdict,
  returnedDebitVerdict,
  type CollectionVerdict,
  type NamedCollection,
  type NamedMandate,
  type ResponseLine,
} from '../../../lib/direct-debits/files/responses.ts'
import type { PreviewLine } from '../../../lib/direct-debits/files/debit-response.ts'
import type { ResponseItem } from '../../../lib/direct-debits/files/response-reading.ts'
import type { CollectionFileMove } from '../../../lib/direct-debits/files/collection-file.ts'
import { DEBIT_SCHEMES } from '../../../lib/direct-debits/schemes.ts'
import type { BacsReportItem, IndemnityClaim, ReturnedDebit } from '../../../lib/providers/bacs/messages.ts'
import { uuidAmong } from '../../../lib/providers/iso20022/references.ts'
import type {
  BankFileItem,
  ReportEntry,
  ReportTransaction,
  StatusReport,
  StatusReportBlock,
} from '../../../lib/providers/iso20022/reports.ts'
import { outcomeOf } from '../../../lib/providers/iso20022/statuses.ts'
import { shiftOpenDays } from '../../../lib/rails/calendar-days.ts'
import type { Database } from '../../../storage/db/database.ts'
import {
  bacsCollectionsNamed,
  bacsMandatesNamed,
  collectionsNamed,
  collectionsOfFile,
  filesNamed,
  isServiceUser,
  type BacsDebitName,
  type NamedFile,
} from '../../../storage/direct-debits/files/named-debits.ts'

/** Collections of a file that are read at a time. */
const BATCH = 500

/** The status that a report gives to a file of ours. */
interface FileVerdict {
  readonly named: string
  readonly connectionId: string
  readonly move: Extract<CollectionFileMove, 'accepted' | 'partially_rejected' | 'rejected'>
}

type OfKind<Kind extends ResponseItem['kind']> = Extract<ResponseItem, { readonly kind: Kind }>

export class ResponseInterpreter {
  readonly #database: Database
  readonly #operatorId: string
  /** Collections and mandates as the lines so far leave them. */
  readonly #collections = new Map<string, NamedCollection>()
  readonly #mandates = new Map<string, NamedMandate['status']>()
  /** Collections that a status report has listed one by one: what it says of the whole is not about them. */
  readonly #listed = new Set<string>()
  readonly #fileVerdicts = new Map<string, FileVerdict>()
  #nth = 0
  #file: NamedFile | null = null
  #report: StatusReport | null = null
  #hasRejected = false
  #user: string | null = null
  #isOurs = false

  constructor(database: Database, operatorId: string) {
    this.#database = database
    this.#operatorId = operatorId
  }

  /** Whether anything that the file has named so far is of the operator. */
  get isOurs(): boolean {
    return this.#isOurs
  }

  /** Takes items, and returns their lines. */
  async take(items: readonly ResponseItem[]): Promise<readonly PreviewLine[]> {
    await this.#load(items)
    const lines: PreviewLine[] = []
    for (const item of items) for await (const line of this.#linesOf(item)) lines.push(line)
    return lines
  }

  /** Ends the file: what it says of the whole concerns the collections that it did not list. */
  async end(): Promise<readonly PreviewLine[]> {
    const lines = [...(await this.#endReport())]
    for (const [fileId, { named, move, connectionId }] of this.#fileVerdicts)
      lines.push(
        this.#line(
          { ...noteLine('file', named, 'information', `The file is ${move}.`), objectId: fileId, to: move },
          connectionId,
        ),
      )
    return lines
  }

  async *#linesOf(item: ResponseItem): AsyncGenerator<PreviewLine> {
    switch (item.kind) {
      case 'status_report':
        yield* await this.#endReport()
        yield* this.#beginReport(item.report)
        return
      case 'status_order':
        yield this.#ordered(item)
        return
      case 'status_block':
        yield* this.#spread(item.block)
        return
      case 'account_report':
        return
      case 'entry':
        yield* this.#entered(item.entry)
        return
      default:
        yield* this.#ofBacs(item)
    }
  }

  // ── Status reports

  async *#beginReport(report: StatusReport): AsyncGenerator<PreviewLine> {
    this.#report = report
    this.#hasRejected = false
    ;[this.#file = null] = await filesNamed(this.#database, this.#operatorId, [report.originalMessageId])
    if (this.#file === null)
      yield this.#line(noteLine('file', report.originalMessageId, 'not_ours', 'No file of ours has this message id.'))
    else this.#isOurs = true
  }

  #ordered({ order }: OfKind<'status_order'>): PreviewLine {
    const named = order.reference ?? order.endToEndId ?? ''
    const found = this.#collectionOf([order.reference], order.endToEndId)
    const collection = found?.fileId === this.#file?.id ? found : null
    if (collection !== null) this.#listed.add(collection.id)
    if (order.status === null)
      return this.#line(noteLine('collection', named, 'information', 'The report gives no status.'))
    const verdict = reportedVerdict(order.status, order.reasons, order.bankRef)
    if (verdict.outcome === 'rejected') this.#hasRejected = true
    return this.#about(named, collection, verdict)
  }

  /** A block of ours is a whole file. */
  async *#spread({ status, reasons }: StatusReportBlock | StatusReport): AsyncGenerator<PreviewLine> {
    if (this.#file === null || status === null || outcomeOf(status, []) === 'partial') return
    const verdict = reportedVerdict(status, reasons, null)
    if (verdict.outcome === 'rejected') this.#hasRejected = true
    if (verdict.outcome === 'accepted') return
    for await (const batch of collectionsOfFile(this.#database, this.#file.id, BATCH))
      for (const each of batch)
        if (!this.#listed.has(each.id)) {
          this.#listed.add(each.id)
          yield this.#about(each.endToEndId, this.#known(each), verdict)
        }
  }

  async #endReport(): Promise<readonly PreviewLine[]> {
    const [report, file] = [this.#report, this.#file]
    this.#report = null
    if (report === null || file === null) return []
    const lines: PreviewLine[] = []
    for await (const line of this.#spread(report)) lines.push(line)
    const status = report.status === null ? null : outcomeOf(report.status, report.reasons)
    const isPart = this.#hasRejected || status === 'partial'
    this.#judge(file, status === 'rejected' ? 'rejected' : isPart ? 'partially_rejected' : 'accepted')
    return lines
  }

  // ── Account reports

  async *#entered(entry: ReportEntry): AsyncGenerator<PreviewLine> {
    if (entry.status !== 'BOOK') return
    const listed = entry.transactions.flatMap((transaction) => {
      const collection = this.#collectionOf([transaction.reference], transaction.references.endToEndId)
      return collection === null ? [] : [{ transaction, collection }]
    })
    for (const { transaction, collection } of listed) yield this.#transacted(entry, transaction, collection)
    if (listed.length === 0 && entry.batch !== null && entry.part.isLast) yield* this.#batched(entry, entry.batch)
  }

  #transacted(entry: ReportEntry, transaction: ReportTransaction, collection: NamedCollection): PreviewLine {
    const named = transaction.references.endToEndId ?? collection.endToEndId
    // Money that moved into clearing again with the credit of a batch comes as an entry of the whole.
    const amount = transaction.amount ?? (entry.transactions.length === 1 ? entry.amount : null)
    return this.#about(named, collection, bookedVerdict(entry, { ...transaction, amount }, collection.status))
  }

  /** A file that was credited as one amount: its collections, without those that were rejected, must come to it. */
  async *#batched(entry: ReportEntry, batch: NonNullable<ReportEntry['batch']>): AsyncGenerator<PreviewLine> {
    const messageId = batch.messageId ?? batch.blockId?.replace(/-\d+$/, '') ?? ''
    const [file] = await filesNamed(this.#database, this.#operatorId, [messageId])
    if (file === undefined || entry.direction !== 'CRDT') return
    this.#isOurs = true
    let sum = 0n
    for await (const some of collectionsOfFile(this.#database, file.id, BATCH))
      for (const each of some) if (this.#known(each).status !== 'failed') sum += each.amount
    if (sum !== entry.amount) {
      const text = `The bank booked ${entry.amount}, the collections of the file come to ${sum} (minor units).`
      yield this.#line(noteLine('file', messageId, 'wrong_amount', text))
      return
    }
    const verdict: CollectionVerdict = {
      outcome: 'collected',
      reasonCode: null,
      rType: null,
      amount: null,
      bookedOn: entry.bookedOn,
      providerRef: entry.bankRef,
    }
    for await (const some of collectionsOfFile(this.#database, file.id, BATCH))
      for (const each of some) {
        const known = this.#known(each)
        if (known.status !== 'failed') yield this.#about(each.endToEndId, known, verdict)
      }
  }

  // ── Reports of Bacs

  async *#ofBacs(item: BacsReportItem): AsyncGenerator<PreviewLine> {
    switch (item.kind) {
      case 'head':
        this.#user = item.serviceUserNumber
        if (await isServiceUser(this.#database, this.#operatorId, item.serviceUserNumber)) this.#isOurs = true
        else
          yield this.#line(noteLine('file', item.serviceUserNumber, 'not_ours', 'No creditor of ours has this number.'))
        return
      case 'returned_debit':
        yield this.#about(item.reference, this.#bacsOf(returnedName(item)), returnedDebitVerdict(item))
        return
      case 'indemnity_claim':
        for (const debit of claimedDebits(item)) {
          const found = this.#bacsOf({ reference: item.reference, days: [debit.day], amount: debit.amount })
          yield this.#about(item.reference, found, claimVerdict(item, debit.amount))
        }
        return
      case 'instruction_advice': {
        const mandate = this.#mandateOf(item.reference)
        const line = mandateLine(item, mandate)
        if (mandate !== null && line.fault === null) this.#mandates.set(mandate.id, line.to as NamedMandate['status'])
        yield this.#line(line, mandate?.connectionId ?? null)
        return
      }
      case 'instruction_file': {
        const { serialNumber, accepted, rejected, isRejected } = item
        const [file] = await filesNamed(this.#database, this.#operatorId, [serialNumber])
        if (file !== undefined)
          this.#judge(file, isRejected ? 'rejected' : rejected > 0 ? 'partially_rejected' : 'accepted')
        yield this.#line(
          noteLine('file', serialNumber, 'information', `Bacs took ${accepted} instructions and rejected ${rejected}.`),
        )
        return
      }
      default:
        item satisfies never
    }
  }

  // ── Lookups

  readonly #byEndToEnd = new Map<string, string>()
  readonly #bacs = new Map<string, readonly NamedCollection[]>()
  readonly #bacsMandates = new Map<string, NamedMandate>()

  /** Reads what a batch of items names, with one statement of each kind. */
  async #load(items: readonly ResponseItem[]): Promise<void> {
    const references = items.flatMap(referencesOf)
    if (references.length > 0) {
      const ids = references.flatMap(({ reference }) => (reference === null ? [] : [reference]))
      const endToEndIds = references.flatMap(({ endToEndId }) => (endToEndId === null ? [] : [endToEndId]))
      for (const found of await collectionsNamed(this.#database, this.#operatorId, { ids, endToEndIds })) {
        this.#known(found)
        this.#byEndToEnd.set(found.endToEndId, found.id)
      }
    }
    await this.#loadBacs(items)
  }

  async #loadBacs(items: readonly ResponseItem[]): Promise<void> {
    const head = items.find((item) => item.kind === 'head')
    const creditorId = head?.kind === 'head' ? head.serviceUserNumber : this.#user
    if (creditorId === null) return
    const user = { operatorId: this.#operatorId, creditorId }
    const debits = items.flatMap((item): readonly BacsDebitName[] =>
      item.kind === 'returned_debit'
        ? [returnedName(item)]
        : item.kind === 'indemnity_claim'
          ? claimedDebits(item).map(({ day, amount }) => ({ reference: item.reference, days: [day], amount }))
          : [],
    )
    if (debits.length > 0)
      for (const { mandateReference, ...found } of await bacsCollectionsNamed(this.#database, user, debits)) {
        const name = bacsKey(mandateReference, found.dueDate, found.amount)
        const others = (this.#bacs.get(name) ?? []).filter(({ id }) => id !== found.id)
        this.#bacs.set(name, [...others, this.#known(found)])
      }
    const mandates = items.flatMap((item) => (item.kind === 'instruction_advice' ? [item.reference] : []))
    if (mandates.length > 0)
      for (const [reference, mandate] of await bacsMandatesNamed(this.#database, user, mandates))
        this.#bacsMandates.set(reference, mandate)
  }

  #known(collection: NamedCollection): NamedCollection {
    const known = this.#collections.get(collection.id)
    if (known !== undefined) return known
    this.#collections.set(collection.id, collection)
    return collection
  }

  #collectionOf(references: readonly (string | null)[], endToEndId: string | null): NamedCollection | null {
    const id = uuidAmong(references)
    const byName = endToEndId === null ? undefined : this.#byEndToEnd.get(endToEndId)
    return this.#collections.get(id ?? '') ?? this.#collections.get(byName ?? '') ?? null
  }

  /** Of debits of one mandate, day and amount the first one that the file has not returned yet. */
  #bacsOf({ reference, days, amount }: BacsDebitName): NamedCollection | null {
    const found = days
      .flatMap((day) => this.#bacs.get(bacsKey(reference, day, amount)) ?? [])
      .map(({ id }) => this.#collections.get(id) as NamedCollection)
    return found.find(({ status }) => status === 'collected' || status === 'submitted') ?? found[0] ?? null
  }

  #mandateOf(reference: string): NamedMandate | null {
    const mandate = this.#bacsMandates.get(reference)
    return mandate === undefined ? null : { ...mandate, status: this.#mandates.get(mandate.id) ?? mandate.status }
  }

  #about(named: string, collection: NamedCollection | null, verdict: CollectionVerdict): PreviewLine {
    const line = collectionLine(named, collection, verdict)
    if (collection !== null) {
      this.#isOurs = true
      if (line.fault === null)
        this.#collections.set(collection.id, { ...collection, status: line.to as NamedCollection['status'] })
    }
    return this.#line(line, collection?.connectionId ?? null)
  }

  #judge({ id, messageId, connectionId }: NamedFile, move: FileVerdict['move']): void {
    this.#fileVerdicts.set(id, { named: messageId, connectionId, move })
  }

  #line(line: ResponseLine, connectionId: string | null = null): PreviewLine {
    this.#nth += 1
    return { ...line, nth: this.#nth, connectionId }
  }
}

const { calendar: BACS_DAYS } = DEBIT_SCHEMES.bacs_dd

const returnedName = ({ reference, originalDay, amount }: ReturnedDebit): BacsDebitName => ({
  reference,
  days: dueDatesOf(originalDay, (day) => shiftOpenDays(BACS_DAYS, day, 1)),
  amount,
})

/** The debits of a claim. One that names none has the day of the claim, on which no collection was due: staff look. */
const claimedDebits = ({ debits, amount, debitedOn }: IndemnityClaim): IndemnityClaim['debits'] =>
  debits.length > 0 ? debits : [{ day: debitedOn, amount }]

const bacsKey = (reference: string, day: string, amount: bigint): string => `${reference} ${day} ${amount}`

interface NamedReference {
  readonly reference: string | null
  readonly endToEndId: string | null
}

function referencesOf(item: ResponseItem): readonly NamedReference[] {
  const of = item as BankFileItem
  if (of.kind === 'status_order') return [{ reference: of.order.reference, endToEndId: of.order.endToEndId }]
  if (of.kind !== 'entry') return []
  return of.entry.transactions.map(({ reference, references }) => ({ reference, endToEndId: references.endToEndId }))
}
