/** The controls of balances for direct debits: their rows, and how the state of a balance reads them. */
import type { InferEntity } from '@mikro-orm/core'
import { NO_CONTROLS, type BalanceDebitControls, type Periodicity } from '../../lib/balances/debit-controls.ts'
import { entitiesOf } from '../db/entities.ts'
import type { StatementRunner } from '../db/entity-driver.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { DebitControlsRow } from './debit-controls-entity.ts'

/** The controls as they are stored. */
export interface StoredControls extends BalanceDebitControls {
  readonly updatedBy: string
  readonly updatedAt: number
  readonly version: number
}

/** Reads the controls of a customer's balance; null when none were set. */
export async function readDebitControls(
  client: StatementRunner,
  customerId: string,
  balanceId: string,
): Promise<StoredControls | null> {
  const row = await entitiesOf(client, { customerId }).findOne(DebitControlsRow, { balanceId })
  return row === null ? null : storedOf(row)
}

/**
 * Writes the controls of a balance, whose row the transaction has locked. The version of the balance moves, so that no
 * actor decides a debit on the controls before.
 */
export async function writeDebitControls(
  client: TransactionClient,
  { customerId, balanceId }: { readonly customerId: string; readonly balanceId: string },
  { controls, by, now }: { readonly controls: BalanceDebitControls; readonly by: string; readonly now: number },
): Promise<void> {
  const rows = entitiesOf(client, { customerId })
  const found = await rows.findOne(DebitControlsRow, { balanceId })
  const written = {
    ...controls,
    allowedCreditorIds: [...controls.allowedCreditorIds],
    blockedCreditorIds: [...controls.blockedCreditorIds],
    updatedBy: by,
    updatedAt: now,
  }
  if (found === null) await rows.insert(DebitControlsRow, { ...written, balanceId, customerId })
  else Object.assign(found, written)
  await rows.save()
  await client.query({
    name: 'fence_controlled_balance',
    values: [balanceId],
    text: 'update balance set version = version + 1 where id = $1',
  })
}

function storedOf(row: InferEntity<typeof DebitControlsRow>): StoredControls {
  const { blockAll, allowedCreditorIds, blockedCreditorIds, maxAmount, periodicity, updatedBy, updatedAt, version } =
    row
  return {
    blockAll,
    allowedCreditorIds,
    blockedCreditorIds,
    maxAmount: maxAmount ?? null,
    periodicity: periodicity ?? null,
    updatedBy,
    updatedAt,
    version,
  }
}

/** The controls as `CONTROLS_OF_BALANCE` gives them. */
interface ControlsJson {
  readonly blockAll: boolean
  readonly allowed: readonly string[]
  readonly blocked: readonly string[]
  readonly maxAmount: string | null
  readonly periodicity: Periodicity | null
}

/** SQL expression: the controls of the balance `b`; null where none were set. */
export const CONTROLS_OF_BALANCE = `(select json_build_object('blockAll', c.block_all, 'allowed', c.allowed_creditor_ids, 'blocked', c.blocked_creditor_ids,
  'maxAmount', c.max_amount::text, 'periodicity', c.periodicity) from debit_controls c where c.balance_id = b.id)`

/** Reads what `CONTROLS_OF_BALANCE` gives. */
export function controlsOf(json: ControlsJson | null): BalanceDebitControls {
  if (json === null) return NO_CONTROLS
  const { blockAll, allowed, blocked, maxAmount, periodicity } = json
  return {
    blockAll,
    allowedCreditorIds: allowed,
    blockedCreditorIds: blocked,
    maxAmount: maxAmount === null ? null : BigInt(maxAmount),
    periodicity,
  }
}
export type { ControlsJson }
