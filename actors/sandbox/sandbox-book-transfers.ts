/**
 * The sandbox bank's transfers between own accounts, with a book of its own (table sandbox_transfer). The amount of a
 * transfer decides its outcome.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { planTransfer } from '../../lib/sandbox/triggers.ts'
import type { Database } from '../../storage/db/database.ts'
import { insertSandboxBookings } from '../../storage/sandbox/sandbox-book.ts'
import { insertSandboxTransfer, sandboxTransferState } from '../../storage/sandbox/sandbox-transfers.ts'
import type { BookOrder, BookStatus, BookSubmission, BookTransferPartner } from '../providers/book-transfers.ts'

export interface SandboxBookTransfersOptions {
  readonly database: Database
  readonly clock: Clock
}

export class SandboxBookTransfers implements BookTransferPartner {
  readonly #options: SandboxBookTransfersOptions

  constructor(options: SandboxBookTransfersOptions) {
    this.#options = options
  }

  async book({ reference, fromConnectionId, toConnectionId, currency, amount }: BookOrder): Promise<BookSubmission> {
    const { database, clock } = this.#options
    const now = clock.now()
    const { submit, steps, reconcile } = planTransfer(amount)
    const [step] = steps
    const end =
      reconcile === null
        ? {
            outcome: step?.event === 'rejected' ? 'rejected' : 'settled',
            schemeCode: step?.schemeCode ?? null,
            afterMs: step?.afterMs ?? 0,
          }
        : reconcile
    await insertSandboxTransfer(database, {
      reference,
      currency,
      amount,
      state: submit === 'timeout' ? 'unanswered' : 'accepted',
      outcome: end.outcome,
      schemeCode: end.schemeCode,
      dueAt: now + end.afterMs,
      receivedAt: now,
    })
    // Within one connection both balances are in the same account at the bank, so there is nothing to book.
    if (end.outcome === 'settled' && fromConnectionId !== toConnectionId) {
      const leg = { currency, reference, amount, at: now + end.afterMs, code: 'BOOK', text: null }
      await insertSandboxBookings(database, [
        { ...leg, id: reference, connectionId: fromConnectionId, direction: 'DBIT' },
        { ...leg, id: creditId(reference), connectionId: toConnectionId, direction: 'CRDT' },
      ])
    }
    return submit
  }

  async status({ reference }: Pick<BookOrder, 'reference'>): Promise<BookStatus | null> {
    const { database, clock } = this.#options
    const found = await sandboxTransferState(database, reference, clock.now())
    if (found === null) return { kind: 'unknown' }
    const { state, outcome, schemeCode, isDue } = found
    // The status of a transfer whose booking went unanswered is not given before its outcome is due.
    if (!isDue) return state === 'unanswered' ? null : { kind: 'pending' }
    return outcome === 'rejected' ? { kind: 'rejected', schemeCode: schemeCode ?? 'NARR' } : { kind: 'settled' }
  }
}

/** The bank's id of the credit of a transfer: the reference with its last digit mirrored. */
export function creditId(reference: string): string {
  return reference.slice(0, -1) + (15 - Number.parseInt(reference.slice(-1), 16)).toString(16)
}
