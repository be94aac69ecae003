/** Reads and changes the controls that a payer sets for the direct debits of a balance. */
import { timestamp } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { moneyJson } from '../../lib/base/money.ts'
import { refuse, refuseNotFound } from '../../lib/base/problems.ts'
import { NO_CONTROLS, type BalanceDebitControls } from '../../lib/balances/debit-controls.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { checkVersion } from '../../lib/commands/etag.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { DebitControls, DebitControlsWrite } from '../../lib/incoming-debits/incoming-debit-schema.ts'
import type { BalanceCache, KnownBalance } from '../../storage/balances/balance-cache.ts'
import type { StatementRunner } from '../../storage/db/entity-driver.ts'
import type { Database } from '../../storage/db/database.ts'
import { lockBalance } from '../../storage/incoming-payments/incoming-payments.ts'
import { readDebitControls, writeDebitControls } from '../../storage/incoming-debits/debit-controls.ts'
import { recordChange, runChange, type ChangeDeps } from '../commands/changes.ts'
import { auditCaller } from '../commands/trail.ts'

export interface ControlsDeps {
  readonly database: Database
  readonly balances: BalanceCache
}

/** Reads the controls of a balance; null when the balance is not the tenant's. */
export async function getDebitControls(
  { database, balances }: ControlsDeps,
  tenant: Tenant,
  balanceId: string,
): Promise<Versioned<DebitControls> | null> {
  const balance = await balances.find(balanceId)
  return tenant.kind !== 'customer' || balance?.customerId !== tenant.id
    ? null
    : await viewOf(database.pool, balance, balanceId)
}

async function viewOf(
  client: StatementRunner,
  { customerId, currency }: KnownBalance,
  balanceId: string,
): Promise<Versioned<DebitControls>> {
  const stored = await readDebitControls(client, customerId, balanceId)
  const { blockAll, allowedCreditorIds, blockedCreditorIds, maxAmount, periodicity } = stored ?? NO_CONTROLS
  return {
    version: stored?.version ?? 0,
    view: {
      blockAll,
      allowedCreditorIds: [...allowedCreditorIds],
      blockedCreditorIds: [...blockedCreditorIds],
      maxAmount: maxAmount === null ? null : moneyJson({ amountMinor: maxAmount, currency: currency as CurrencyCode }),
      periodicity,
      balanceId,
      currency: currency as CurrencyCode,
      updatedBy: stored?.updatedBy ?? null,
      updatedAt: stored === null ? null : timestamp(stored.updatedAt),
    },
  }
}

/**
 * Replaces the controls of a balance. Debits that are decided from then on follow the new ones, on every node.
 *
 * @throws ProblemError `not-found`, `precondition-failed`, `validation-error`
 */
export async function updateDebitControls(
  deps: ControlsDeps & ChangeDeps,
  by: Caller<'person'>,
  balanceId: string,
  body: DebitControlsWrite,
  expected: number | bigint | null,
): Promise<Versioned<DebitControls>> {
  const balance = await deps.balances.find(balanceId)
  if (balance === null || balance.customerId !== by.tenant.id) refuseNotFound()
  const controls = controlsIn(body, balance)
  const { customerId } = balance
  return await runChange(deps, async (tx) => {
    const { client, now } = tx
    await lockBalance(client, balanceId)
    const before = await readDebitControls(client, customerId, balanceId)
    checkVersion({ version: before?.version ?? 0 }, expected)
    await writeDebitControls(client, { customerId, balanceId }, { controls, by: by.session.userId, now })
    await recordChange(tx, auditCaller(by), customerId, {
      action: 'debit_controls.updated',
      object: { type: 'debit_controls', id: balanceId },
      before: shown(before ?? NO_CONTROLS),
      after: shown(controls),
    })
    return await viewOf(client, balance, balanceId)
  })
}

/** The controls for the trail: JSON has no bigint. */
const shown = ({ blockAll, allowedCreditorIds, blockedCreditorIds, maxAmount, periodicity }: BalanceDebitControls) => ({
  blockAll,
  allowedCreditorIds,
  blockedCreditorIds,
  maxAmount: maxAmount?.toString() ?? null,
  periodicity,
})

function controlsIn({ maxAmount, ...body }: DebitControlsWrite, { currency }: KnownBalance): BalanceDebitControls {
  if (maxAmount !== null && maxAmount.currency !== currency) {
    const message = `The balance is in ${currency}.`
    refuse('validation-error', message, {
      errors: [{ field: '/maxAmount/currency', code: 'currency_mismatch', message }],
    })
  }
  return { ...body, maxAmount: maxAmount === null ? null : BigInt(maxAmount.amountMinor) }
}
