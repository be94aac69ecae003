/** Effects that an open transaction writes, in the statement that the lanes write them with. */
import type { IdSource } from '../../lib/base/ids.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import type { TurnFence } from '../commit/turn.ts'
import { writesEvents, type TransactionClient } from '../db/transaction.ts'
import { commit, type Conflict } from './commit.ts'

/** An open transaction and its time, epoch milliseconds. */
interface Writing {
  readonly client: TransactionClient
  readonly now: number
}

/**
 * Thrown when a statement of a commit found other facts than the decision assumed; the transaction has to begin again.
 */
export class CommitConflict extends Error {
  override readonly name = 'CommitConflict'
  readonly conflicts: readonly Conflict[]
  constructor(conflicts: readonly Conflict[]) {
    super(`The commit found ${conflicts.map(({ kind }) => kind).join(', ')}.`)
    this.conflicts = conflicts
  }
}

/**
 * Writes the effects of a decision. Where the commit finds that the credited balance accepts no money any more,
 * `decide` runs again with the id of a suspense item.
 *
 * @throws as `writeEffects`
 */
export async function writeOrSuspend<Decided extends { readonly effects?: Effects }>(
  tx: Writing & { readonly ids: IdSource },
  decide: (suspenseId: string | undefined) => Decided | Promise<Decided>,
): Promise<Decided> {
  const decided = await decide(undefined)
  try {
    await writeEffects(tx, decided.effects ?? {})
    return decided
  } catch (error) {
    if (!(error instanceof CommitConflict) || !error.conflicts.every(({ kind }) => kind === 'credit_refused'))
      throw error
  }
  const again = await decide(tx.ids.next())
  await writeEffects(tx, again.effects ?? {})
  return again
}

/**
 * Writes effects within a transaction; `fence` is the balance version that they were decided on, where a balance
 * decided. @throws CommitConflict when they rest on stale facts; then nothing was written
 */
export async function writeEffects(
  { client, now }: Writing,
  effects: Effects,
  fence: TurnFence | null = null,
): Promise<void> {
  writesEvents(client)
  const connection = {
    query: async (statement: { name: string; text: string; values: unknown[]; rowMode: 'array' }) =>
      (await client.query(statement)) as unknown as { rows: unknown[][] },
  }
  const result = await commit(connection, [{ fence, commands: [{ effects }] }], now)
  if (!result.ok) throw new CommitConflict(result.conflicts)
}
