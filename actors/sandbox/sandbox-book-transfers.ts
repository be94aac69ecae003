/** The sandbox bank as the mover of own money, with a book of its own (table sandbox_transfer); what it does is read from the amount. */
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import { planTransfer } from '../../lib/sandbox/triggers.ts'
import type { Database } from '../../storage/db/database.ts'
import { sandboxBookings } from '../../storage/sandbox/sandbox-book.ts'
import type { BookOrder, BookStatus, BookSubmission, BookTransferPartner } from '../providers/book-transfers.ts'

export interface SandboxBookTransfersOptions {
  readonly database: Database
  readonly clock: Clock
}

export class SandboxBookTransfers implements BookTransferPartner {
  readonly #options: SandboxBookTransfersOptions

  constructor(options: SandboxBookTransfersOptions) { this.#options = options }

  async book({ reference, fromConnectionId, toConnectionId, currency, amount }: BookOrder): Promise<BookSubmission> {
    const { database, clock } = this.#options
    const now = clock.now()
    const { submit, steps, reconcile } = planTransfer(amount)
    const [step] = steps
    const end = reconcile === null
      ? { outcome: step?.event === 'rejected' ? 'rejected' : 'settled', schemeCode: step?.schemeCode ?? null, afterMs: step?.afterMs ?? 0 }
      : reconcile
    await database.query({
      name: 'sandbox_book_transfer',
      text: `insert into sandbox_transfer (reference, currency, amount, state, outcome, scheme_code, due_at, received_at) values ($1, $2, $3, $4, $5, $6, $7, $8)
        on conflict (reference) do nothing`,
      values: [reference, currency, amount, submit === 'timeout' ? 'unanswered' : 'accepted', end.outcome, end.schemeCode, timestamp(now + end.afterMs), timestamp(now)],
    })
    // Within one connection it is the same account at the bank.
    if (end.outcome === 'settled' && fromConnectionId !== toConnectionId) {
      const leg = { currency, reference, amount, at: now + end.afterMs, code: 'BOOK', text: null }
      await database.query(sandboxBookings([
        { ...leg, id: reference, connectionId: fromConnectionId, direction: 'DBIT' }, { ...leg, id: creditId(reference), connectionId: toConnectionId, direction: 'CRDT' },
      ]))
    }
    return submit
  }

  async status(reference: string): Promise<BookStatus | null> {
    const { database, clock } = this.#options
    const [row] = await database.query<[state: string, outcome: string, schemeCode: string | null, due: boolean]>({
      name: 'sandbox_transfer_status', values: [reference, timestamp(clock.now())],
      text: 'select state, outcome, scheme_code, due_at <= $2::timestamptz from sandbox_transfer where reference = $1',
    })
    if (row === undefined) return { kind: 'unknown' }
    const [state, outcome, schemeCode, due] = row
    // Of what it did not answer to, it does not speak before it knows.
    if (!due) return state === 'unanswered' ? null : { kind: 'pending' }
    return outcome === 'rejected' ? { kind: 'rejected', schemeCode: schemeCode ?? 'NARR' } : { kind: 'settled' }
  }
}

/** The bank's id of the credit of a transfer: the reference with its last digit mirrored. */
function creditId(reference: string): string {
  return reference.slice(0, -1) + (15 - Number.parseInt(reference.slice(-1), 16)).toString(16)
}
