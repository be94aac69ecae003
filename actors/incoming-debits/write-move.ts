/** Writes a move of an incoming debit that needs no funds, in the transaction that holds the lock of its row. */
import { together } from '../../lib/decisions/merge.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { IncomingDebitRecord } from '../../lib/incoming-debits/incoming-debit.ts'
import {
  changedDebit,
  withCashOfDebit,
  type IncomingDebitMove,
  type MovedFields,
} from '../../lib/incoming-debits/incoming-debit-moves.ts'
import { intoSuspense } from '../../lib/incoming-payments/suspense.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { writeOrSuspend } from '../../storage/sections/write-effects.ts'
import { through } from '../../storage/db/transaction.ts'
import type { ChangeTransaction } from '../commands/changes.ts'
import { readHome } from '../providers/cash/home-accounts.ts'

interface MoveToWrite {
  readonly move: IncomingDebitMove
  readonly given: Pick<MovedFields, 'dueAt' | 'refusal' | 'reasonCode'>
  /** Rows that are written with the move. */
  readonly also?: Effects
}

/**
 * Writes the move, with the cash that follows it. Money that comes back to a balance which accepts none any more waits in
 * suspense for its owner.
 *
 * @throws CommitConflict and the driver's errors
 */
export async function writeMove(
  { accounts }: { readonly accounts: Pick<InternalAccountCache, 'within'> },
  tx: ChangeTransaction,
  record: IncomingDebitRecord,
  { move, given, also = {} }: MoveToWrite,
): Promise<void> {
  const reader = accounts.within(tx.client)
  const internal = await reader.accounts(record)
  const home = await readHome(through(tx.client), reader, record)
  const { now, ids } = tx
  await writeOrSuspend(tx, (suspenseId) => {
    const effects = changedDebit(record, move, given, { accounts: internal, ids, now })
    const { id: originId, operatorId, connectionId, shard, creditorName, reference } = record
    const written =
      suspenseId === undefined
        ? effects
        : intoSuspense(
            effects,
            {
              id: suspenseId,
              operatorId,
              connectionId,
              shard,
              originId,
              payerName: creditorName,
              reference,
              rail: null,
              valueDate: timestamp(now).slice(0, 10),
              receivedAt: now,
            },
            internal,
          )
    const withLeg = withCashOfDebit(written, record, { accounts: internal, home, ids, now })
    return { effects: together(withLeg, also) }
  })
}
