/**
 * Transfers that the partner carries out. The node that owns a transfer's shard submits it to the partner
 * once, and then asks for its status until the partner gives the outcome. An order that may have arrived is sent again
 * only when the partner answers that it has not arrived, and never once it is an exception: staff judge whether that
 * order was lost.
 *
 * A move is decided under the lock of the transfer's row, and written with its entries in the same transaction.
 */
import { dateIn, type Clock } from '../../lib/base/clock.ts'
import type { ScreeningSubject } from '../../lib/compliance/screening.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { moveTransfer, type TransferMove } from '../../lib/transfers/transfer-moves.ts'
import type { MovedTransfer, TransferState } from '../../lib/transfers/transfer-state.ts'
import { refuse, refuseTransition } from '../../lib/base/problems.ts'
import type { Shards } from '../../lib/shards/shards.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type { Database } from '../../storage/db/database.ts'
import type { InternalAccountCache, InternalAccountReader } from '../../storage/journal/internal-account-cache.ts'
import { takesMoney } from '../../storage/balances/balance-funds.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import {
  askTransferAt,
  lockTransfer,
  takeDueTransfers,
  writeTransfer,
  type DueTransfer,
} from '../../storage/transfers/transfers.ts'
import type { ScreeningGate } from '../../lib/compliance/screening.ts'
import type { HeldSubjectKind } from '../compliance/compliance-holds.ts'
import type { ExceptionSubjectKind } from '../compliance/resolve-exception.ts'
import type { BookOrder, BookTransferPartner } from '../providers/book-transfers.ts'
import { DueRowPoller } from '../runtime/due-row-poller.ts'
import type { Wakes } from '../runtime/wakes.ts'

/** Time between two polls, and the most transfers that one poll takes. */
const TICK_MS = 250
const TAKEN_MAX = 64
/**
 * A transfer whose node died during a call of the partner is taken by another node after this time. A call of the
 * partner takes 10 s at most.
 */
const TAKEN_MS = 15_000
/** Time between two status requests: `ASK_MS` longer after each attempt, `ASK_MS_MAX` at most. */
const ASK_MS = 1_000
const ASK_MS_MAX = 10_000
/** Scheme code of a transfer that failed by the decision of staff. */
const FAILED_CODE = 'TECH'

export interface TransferOrdersOptions {
  readonly wakes: Wakes
  readonly database: Database
  /** Internal accounts, read within the transaction of each move. */
  readonly accounts: Pick<InternalAccountCache, 'within'>
  readonly partner: BookTransferPartner
  /** Screens a transfer before it is submitted to the partner. */
  readonly gate: ScreeningGate
  readonly clock: Clock
  readonly ids: IdSource
  readonly shards: Shards
  readonly onError: (error: unknown, what: string) => void
}

export class TransferOrders extends DueRowPoller<DueTransfer> {
  readonly #options: TransferOrdersOptions

  constructor(options: TransferOrdersOptions) {
    super({
      ...options,
      work: 'transfer_order',
      also: ['events'],
      everyMs: TICK_MS,
      max: TAKEN_MAX,
      takenMs: TAKEN_MS,
      what: 'transfers that are due',
      take: (claim) => takeDueTransfers(options.database, claim),
      follow: (transfer) => this.#follow(transfer),
      nameOf: ({ id }) => `transfer ${id}`,
    })
    this.#options = options
  }

  async #follow(transfer: DueTransfer): Promise<void> {
    const { database, clock, partner } = this.#options
    const known = transfer.sent ? await partner.status(bookOrderOf(transfer)) : null
    if (!transfer.sent || (known?.kind === 'unknown' && !transfer.isException)) await this.#tell(transfer)
    else if (known?.kind === 'settled')
      await this.#move(transfer.id, { kind: 'confirm', valueDate: dateIn(clock.now(), 'UTC') })
    else if (known?.kind === 'rejected') await this.#move(transfer.id, { kind: 'refuse', schemeCode: known.schemeCode })
    await askTransferAt(database, transfer.id, clock.now() + Math.min(ASK_MS * transfer.attempts, ASK_MS_MAX))
  }

  async #tell(transfer: DueTransfer): Promise<void> {
    const { partner, gate, onError } = this.#options
    const order = bookOrderOf(transfer)
    const { reference, amount } = order
    const hit = (await gate.screen([transferSubject(reference, amount, transfer.reference)])).get(reference)
    if (hit !== undefined && (await this.#move(reference, { kind: 'hold', hit }))) return
    const submission = await partner.book(order).catch((error: unknown) => {
      // The order may or may not have arrived, so the transfer becomes an exception.
      onError(error, `transfer ${reference}`)
      return 'timeout' as const
    })
    if (submission === 'timeout') await this.#move(reference, { kind: 'timeout' })
    if (submission === 'by_staff') await this.#move(reference, { kind: 'to_staff' })
  }

  /**
   * Moves a transfer in a transaction of its own.
   *
   * @returns false when the transfer does not exist or its status does not allow the move
   */
  async #move(id: string, move: TransferMove): Promise<boolean> {
    const { database, clock, ids } = this.#options
    return await inTransaction(database, async (client) => {
      const tx = { client, ids, now: clock.now() }
      const transfer = await lockTransfer(client, id)
      const moved = transfer === null ? null : await decide(tx, this.#options, transfer, move)
      if (moved !== null) await writeEffects(tx, moved.effects)
      return moved !== null
    })
  }
}

const bookOrderOf = ({ id, fromConnectionId, toConnectionId, currency, amount }: DueTransfer): BookOrder => ({
  reference: id,
  fromConnectionId,
  toConnectionId,
  currency,
  amount,
})

/** Reads the internal accounts of both connections. */
async function accountsOf(
  accounts: InternalAccountReader,
  {
    operatorId,
    currency,
    fromConnectionId,
    toConnectionId,
  }: Pick<TransferState, 'operatorId' | 'currency' | 'fromConnectionId' | 'toConnectionId'>,
) {
  return {
    from: await accounts.accounts({ operatorId, connectionId: fromConnectionId, currency }),
    to: await accounts.accounts({ operatorId, connectionId: toConnectionId, currency }),
  }
}

/**
 * Decides and writes a move of a locked transfer; the caller writes the effects. Null when the move is not possible.
 */
async function decide(
  { client, ids, now }: ApprovalTx,
  { accounts }: Pick<TransferOrdersOptions, 'accounts'>,
  transfer: TransferState,
  move: TransferMove,
): Promise<MovedTransfer | null> {
  const suspenseId = move.kind !== 'confirm' || (await takesMoney(client, transfer)) ? undefined : ids.next()
  const moved = moveTransfer(transfer, move.kind === 'confirm' ? { ...move, suspenseId } : move, {
    ids,
    now,
    accounts: await accountsOf(accounts.within(client), transfer),
  })
  if (moved !== null) await writeTransfer(client, transfer.id, moved, now)
  return moved
}

/**
 * Returns a transfer as a subject of screening: amount and reference; the customer pays itself, so there is no name.
 */
export function transferSubject(id: string, amount: bigint, reference: string | null): ScreeningSubject {
  return { id, amount, reference: reference ?? '', recipientName: '' }
}

/**
 * Transfers as the subjects of compliance holds: a released transfer is submitted to the partner, a blocked transfer
 * has failed.
 */
export function heldTransfer(options: Pick<TransferOrdersOptions, 'accounts'>): HeldSubjectKind {
  return {
    async decided(tx, { subjectId }, decision, { freezeFunds }) {
      const transfer = await lockTransfer(tx.client, subjectId)
      const moved =
        transfer === null
          ? null
          : await decide(
              tx,
              options,
              transfer,
              decision === 'released' ? { kind: 'release' } : { kind: 'block', freezeFunds },
            )
      // A transfer leaves `on_hold` with its hold and in no other way, so this would be a bug.
      if (moved === null) throw new Error(`The transfer ${subjectId} is ${transfer?.status ?? 'gone'}, not on_hold.`)
      return { effects: moved.effects }
    },
  }
}

/** Moves a transfer by the decision of staff on its exception. */
export function transferExceptions(options: Pick<TransferOrdersOptions, 'accounts'>): ExceptionSubjectKind {
  return {
    async resolved(tx, { subjectId }, outcome) {
      if (outcome === 'returned') {
        const message = 'A transfer between own balances does not come back.'
        refuse('validation-error', message, { errors: [{ field: '/outcome', code: 'not_applicable', message }] })
      }
      const transfer = await lockTransfer(tx.client, subjectId)
      const move: TransferMove =
        outcome === 'completed'
          ? { kind: 'confirm', valueDate: dateIn(tx.now, 'UTC') }
          : { kind: 'refuse', schemeCode: FAILED_CODE }
      const moved = transfer === null ? null : await decide(tx, options, transfer, move)
      if (moved === null)
        refuseTransition('The transfer is over.', transfer?.status ?? 'unknown', ['processing', 'exception'])
      return { effects: moved.effects }
    },
  }
}
