/** Changes a balance: its name, its threshold, its metadata, and which balance of a currency is the default. */
import { patchedMetadata } from '../../lib/base/metadata.ts'
import { refuseField, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import {
  lockSiblings,
  setDefault,
  updateBalance as writeBalance,
  type BalanceRecord,
} from '../../storage/balances/balance-changes.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Balance, BalanceUpdate } from '../../lib/balances/balance-schema.ts'
import { fitsMetadata } from '../../lib/contract/primitives.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { recordChange, runChange } from '../commands/changes.ts'
import { rereadBalance, state, type BalanceDeps } from './balance-record.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

/**
 * Changes a balance that is not closed.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, `validation-error`, `invalid-transition`
 */
export async function updateBalance(
  deps: BalanceDeps,
  by: Caller<'person'>,
  id: string,
  body: BalanceUpdate,
  expected: number | bigint | null,
): Promise<Versioned<Balance>> {
  await runChange(deps, async (tx) => {
    const { client, now } = tx
    const siblings = await lockSiblings(client, by.tenant.id, id)
    const before = siblings.find((sibling) => sibling.id === id) ?? refuseNotFound()
    checkVersion(before, expected)
    const after = {
      ...before,
      name: body.name ?? before.name,
      isDefault: body.isDefault ?? before.isDefault,
      lowBalanceThreshold: thresholdOf(body, before),
      metadata: body.metadata === undefined ? before.metadata : patchedMetadata(before.metadata, body.metadata),
    }
    if (!fitsMetadata(after.metadata))
      refuseField('/metadata', 'too_large', 'The metadata has more than 50 keys or more than 16 KiB.')
    checkDefault(before, after.isDefault)
    if (before.status === 'closed')
      refuseTransition('The balance is closed.', 'closed', ['active', 'frozen', 'closing'])
    if (after.isDefault && !before.isDefault) {
      if (before.status !== 'active') refuseTransition(`The balance is ${before.status}.`, before.status, ['active'])
      const old = siblings.find((sibling) => sibling.isDefault)
      if (old !== undefined) await setDefault(client, old.id, false, now)
    }
    await writeBalance(client, id, after, now)
    await recordChange(tx, auditCaller(by), by.tenant.id, {
      action: 'balance.updated',
      object: { type: 'balance', id },
      before: state(before),
      after: state(after),
    })
  })
  return await rereadBalance(deps, by, id)
}

/** Checks the default: each currency has one default balance, which is never a sub-balance. */
function checkDefault(before: BalanceRecord, isDefault: boolean): void {
  if (isDefault && before.type === 'sub') refuseField('/isDefault', 'not_applicable', 'A sub-balance is not a default.')
  if (before.isDefault && !isDefault)
    refuseField('/isDefault', 'invalid_value', 'Make another balance of the currency the default.')
}

function thresholdOf({ lowBalanceThreshold: threshold }: BalanceUpdate, before: BalanceRecord): bigint | null {
  if (threshold === undefined) return before.lowBalanceThreshold
  if (threshold === null) return null
  if (threshold.currency !== before.currency)
    refuseField('/lowBalanceThreshold/currency', 'currency_mismatch', `The balance is in ${before.currency}.`)
  const amount = BigInt(threshold.amountMinor)
  if (amount < 0n) refuseField('/lowBalanceThreshold/amountMinor', 'too_small', 'The threshold is below zero.')
  return amount
}
