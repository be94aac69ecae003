/**
 * Moves mandates and collections that are due by time, on the node that owns their shard: notices to payers, outcomes
 * that banks have not told, the ends of reserves and of exposure, presentations again; the silence of a payer's bank, and
 * dormancy.
 *
 * The row says when it is due next (lib/direct-debits/timers.ts), and each move sets the next time with it. Two nodes that
 * find the same row due decide the same, and the version of the row lets only one of them write.
 */
import type { Clock } from '../../lib/base/clock.ts'
import { ProblemError } from '../../lib/base/problems.ts'
import type { CollectionMove } from '../../lib/direct-debits/collection-moves.ts'
import type { CollectionRecord } from '../../lib/direct-debits/collection.ts'
import { earliestDueDate, schemeDate, submissionDeadline } from '../../lib/direct-debits/dates.ts'
import type { MandateMove } from '../../lib/direct-debits/mandate-moves.ts'
import type { MandateRecord } from '../../lib/direct-debits/mandate.ts'
import { DEBIT_SCHEMES } from '../../lib/direct-debits/schemes.ts'
import { dueOfCollection, dueOfMandate } from '../../lib/direct-debits/timers.ts'
import type { Database } from '../../storage/db/database.ts'
import { dueDebits, postponeDebits, type DebitTable } from '../../storage/direct-debits/due-debits.ts'
import { findMandate } from '../../storage/direct-debits/mandates.ts'
import type { Task } from '../runtime/tasks.ts'
import type { DebitMover, DebitOutcome } from './debit-mover.ts'
import type { PreNotifications } from './pre-notifications.ts'

/** The number of rows that are read at a time. */
const DUE_MAX = 256
/** The delay before a row is looked at again whose move is not possible now. */
const AGAIN_MS = 60_000

export interface DueDebitsDeps {
  readonly database: Database
  readonly clock: Clock
  readonly mover: DebitMover
  readonly notices: Pick<PreNotifications, 'send'>
  readonly onError: (error: unknown, what: string) => void
}

export class DueDebits {
  readonly #deps: DueDebitsDeps

  constructor(deps: DueDebitsDeps) {
    this.#deps = deps
  }

  /** The tasks of the timers; a task works on all rows of a shard that are due. */
  tasks(): readonly Task[] {
    return [
      this.#task('mandate', (id) => this.#moveMandate(id)),
      this.#task('collection', (id) => this.#moveCollection(id)),
    ]
  }

  #task(table: DebitTable, move: (id: string) => Promise<DebitOutcome>): Task {
    return {
      name: `direct-debits.${table}s`,
      cron: '*/10 * * * *',
      run: async (shard) => {
        const owned = shard === '' ? null : [Number(shard)]
        for (let due = DUE_MAX; due === DUE_MAX; ) due = await this.#moveDue(table, owned, move)
      },
    }
  }

  /** @returns the number of rows that were due, `DUE_MAX` at most */
  async #moveDue(
    table: DebitTable,
    owned: readonly number[] | null,
    move: (id: string) => Promise<DebitOutcome>,
  ): Promise<number> {
    const { database, clock, onError } = this.#deps
    const now = clock.now()
    const due = await dueDebits(database, table, { now, owned, max: DUE_MAX })
    const later: string[] = []
    for (const id of due) {
      const outcome = await move(id).catch((error: unknown) => {
        if (!(error instanceof ProblemError)) onError(error, `${table} ${id}`)
        return null
      })
      if (outcome?.kind !== 'moved') later.push(id)
    }
    // A row that was moved by others meanwhile has a later time of its own, which stays.
    if (later.length > 0) await postponeDebits(database, table, { ids: later, now, until: now + AGAIN_MS })
    return due.length
  }

  async #moveMandate(id: string): Promise<DebitOutcome> {
    const { database, clock, mover } = this.#deps
    const mandate = await findMandate(database, id)
    const move = mandate === null ? null : dueMandateMove(mandate, clock.now())
    if (move === null) return { kind: 'ignored', status: mandate?.status ?? null }
    return await mover.moveMandate(id, move, { by: 'system' })
  }

  async #moveCollection(id: string): Promise<DebitOutcome> {
    const { clock, mover, notices } = this.#deps
    let isNotice = false
    const outcome = await mover.moveCollection(
      id,
      (collection) => {
        const due = dueOfCollection(collection)
        isNotice = due?.reason === 'notice' && due.at <= clock.now()
        return isNotice ? null : dueCollectionMove(collection, clock.now())
      },
      { by: 'system' },
    )
    return isNotice ? await notices.send(id) : outcome
  }
}

/** Returns the move that is due on a mandate; null: none. */
export function dueMandateMove(mandate: MandateRecord, now: number): MandateMove | null {
  const due = dueOfMandate(mandate)
  if (due === null || due.at > now) return null
  return due.reason === 'dormancy' ? { kind: 'expire' } : { kind: 'activate', providerRef: null, signedAt: null }
}

/** Returns the move that is due on a collection, but for a notice; null: none. */
export function dueCollectionMove(collection: CollectionRecord, now: number): CollectionMove | null {
  const due = dueOfCollection(collection)
  if (due === null || due.at > now) return null
  switch (due.reason) {
    case 'notice':
      return null
    case 'overdue':
      return { kind: 'doubt', why: 'timeout' }
    case 'reserve':
      return { kind: 'release_reserve' }
    case 'exposure':
      return { kind: 'end_exposure' }
    case 'retry': {
      const scheme = DEBIT_SCHEMES[collection.scheme]
      const dueDate = earliestDueDate(scheme, now, null)
      return {
        kind: 'retry',
        dueDate,
        submissionDeadline: submissionDeadline(scheme, dueDate),
        sendBy: schemeDate(scheme, now),
      }
    }
    default:
      return due.reason satisfies never
  }
}
