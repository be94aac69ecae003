/** Collects what a file of a bank comes to: events for the inbox, and changes of the orders in the book. Pure. */
import { hear, type Told } from '../../../../lib/providers/files/order-state.ts'
import type { NewBookEvent, OrderChange, StatementPage } from '../../../../lib/providers/files/file-contents.ts'
import type { FileContents, OrderInBook } from '../partner-files.ts'
import { eventText, type CreditTold, type DebitBackTold, type DebitTold, type FileNews } from './file-event.ts'

/** The names by which a file may mean an order. */
export interface OrderName {
  readonly reference: string | null
  readonly uetr: string | null
  readonly endToEndId: string | null
}

export interface SourceFile {
  readonly id: string
  readonly name: string
  readonly sha256: string
}

export class Findings {
  /** The orders that the file may mean, as they were before it. */
  readonly orders: readonly OrderInBook[]
  readonly #file: SourceFile
  readonly #source: 'file' | 'statement'
  readonly #byReference: ReadonlyMap<string, OrderInBook>
  /** The orders as they are after what was read so far. */
  readonly #now = new Map<string, OrderInBook>()
  readonly #changes = new Map<string, OrderChange>()
  readonly #events: NewBookEvent[] = []
  readonly #statements: StatementPage[] = []

  constructor(file: SourceFile, source: 'file' | 'statement', orders: readonly OrderInBook[]) {
    this.#file = file
    this.#source = source
    this.orders = orders
    this.#byReference = new Map(orders.map((order) => [order.reference, order]))
  }

  /**
   * Finds the order of a name: by our reference, else by a name that only one of the orders has. Clients choose the
   * end-to-end id, so by it only orders that `fits` accepts are found.
   */
  find(
    { reference, uetr, endToEndId }: OrderName,
    among: readonly OrderInBook[] = this.orders,
    fits: (order: OrderInBook) => boolean = () => true,
  ): OrderInBook | null {
    const named = reference === null ? undefined : this.#byReference.get(reference)
    if (named !== undefined) return named
    const found = [
      uetr === null ? [] : among.filter((order) => order.uetr === uetr),
      endToEndId === null ? [] : among.filter((order) => order.endToEndId === endToEndId && fits(order)),
    ]
    return found.find((orders) => orders.length === 1)?.[0] ?? null
  }

  /** Notes what the file tells of an order. */
  told(
    order: OrderInBook,
    {
      type,
      schemeCode,
      bankRef,
      status,
      bookedOn = null,
      ...rest
    }: Omit<Told, 'status'> & {
      readonly type: string
      readonly status: 'settled' | 'rejected' | 'returned'
      readonly schemeCode: string | null
      readonly bankRef: string | null
      /** The day of the booking, `YYYY-MM-DD`. */
      readonly bookedOn?: string | null
    },
  ): void {
    const { reference } = order
    const { amount } = rest
    const { counts, contradiction, ...after } = hear(this.#now.get(reference) ?? order, { status, ...rest })
    const returnedAmount = after.status === 'returned' ? amount : null
    this.#change(order, { ...after, schemeCode: counts ? schemeCode : null, returnedAmount, bankRef, contradiction })
    this.#add(type, {
      kind: 'order',
      reference,
      told: status,
      counts,
      schemeCode,
      amount: amount === null ? null : amount.toString(),
      bankRef,
      contradiction,
      bookedOn,
      ...collectionOf(order),
    })
  }

  /** Notes that the bank has taken an order; only a contradiction is an event. */
  accepted(order: OrderInBook, type: string, bankRef: string | null): void {
    const told = { by: 'status', status: 'accepted', amount: null } as const
    const { counts: _, contradiction, ...after } = hear(this.#now.get(order.reference) ?? order, told)
    this.#change(order, { ...after, schemeCode: null, returnedAmount: null, bankRef, contradiction })
    if (contradiction !== null) this.remark(type, contradiction, true)
  }

  /** Notes that the bank has refused an order as one that it had before: the outcome of that one counts. */
  unclear(order: OrderInBook, type: string, schemeCode: string | null): void {
    const { reference } = order
    const nothing = { amount: null, bankRef: null, contradiction: null, bookedOn: null, ...collectionOf(order) }
    this.#add(type, { kind: 'order', reference, told: 'unclear', counts: true, schemeCode, ...nothing })
  }

  credited(type: string, credit: CreditTold): void {
    this.#add(type, credit)
  }

  debited(type: string, debit: DebitTold | DebitBackTold): void {
    this.#add(type, debit)
  }

  remark(type: string, reason: string, isFault: boolean): void {
    this.#add(type, { kind: 'remark', reason, isFault })
  }

  statement(page: StatementPage): void {
    this.#statements.push(page)
  }

  /** Returns all of it. */
  contents(format: string, messageId: string | null): FileContents {
    const changes = [...this.#changes.values()]
    return { format, messageId, changes, events: this.#events, statements: this.#statements }
  }

  #change(order: OrderInBook, change: Omit<OrderChange, 'reference'>): void {
    const { reference } = order
    const before = this.#changes.get(reference)
    this.#now.set(reference, { ...order, status: change.status, isBooked: change.isBooked })
    this.#changes.set(reference, {
      reference,
      ...change,
      schemeCode: change.schemeCode ?? before?.schemeCode ?? null,
      returnedAmount: change.returnedAmount ?? before?.returnedAmount ?? null,
      bankRef: change.bankRef ?? before?.bankRef ?? null,
      contradiction: change.contradiction ?? before?.contradiction ?? null,
    })
  }

  #add(type: string, event: FileNews): void {
    const place = this.#events.length + 1
    const body = Buffer.from(eventText(event, { file: this.#file, place }))
    this.#events.push({ source: this.#source, type, body })
  }
}

/** The file of a collection, which tells its presentations apart. */
const collectionOf = ({ isCollection, fileId }: OrderInBook): { readonly collectionFileId?: string } =>
  isCollection ? { collectionFileId: fileId } : {}
