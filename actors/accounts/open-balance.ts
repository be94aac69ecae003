/** Opens a balance in a currency that the customer has enabled. */
import { OPEN_BALANCES_MAX } from '../../lib/balances/balance.ts'
import { isCurrencyCode, WITHDRAWN_CURRENCIES, type CurrencyCode } from '../../lib/base/currency.ts'
import { OFFERED_CURRENCIES } from '../../lib/customers/currencies.ts'
import { inStoredOrder } from '../../lib/base/metadata.ts'
import { moneyProblem } from '../../lib/customers/money-access.ts'
import { ProblemError, refuse, refuseField, refuseNotFound } from '../../lib/base/problems.ts'
import {
  countOpenBalances,
  insertBalance,
  lockOneBalance,
  type BalanceRecord,
} from '../../storage/balances/balance-changes.ts'
import { lockCustomer } from '../../storage/balances/closure.ts'
import { readSetting } from '../../storage/customers/settings.ts'
import { balanceWithin } from '../../storage/balances/balance-queries.ts'
import { through, type TransactionClient } from '../../storage/db/transaction.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Balance, BalanceOpen } from '../../lib/balances/balance-schema.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import type { AuditBy } from '../../storage/trail/trail.ts'
import { recordChange, type ChangeTransaction } from '../commands/changes.ts'
import { decideOnce } from '../commands/run-once.ts'
import { state, type BalanceDeps } from './balance-record.ts'

/**
 * Opens a balance, or a sub-balance of one.
 *
 * @throws ProblemError `validation-error`, `customer-not-active`, `limit-reached`
 */
export async function openBalance(
  deps: BalanceDeps,
  by: Caller<'person'>,
  command: Command<BalanceOpen>,
): Promise<CommandAnswer<Balance, 201>> {
  const { currency, name, parentBalanceId = null, metadata = {} } = command.body
  const customerId = by.tenant.id
  return await decideOnce(deps, command, 201, async (client) => {
    const tx = { client, ids: deps.ids, now: deps.clock.now() }
    const id = await openWithin(tx, auditCaller(by), customerId, { currency, name, parentBalanceId, metadata })
    const shown = (await balanceWithin(through(client), customerId, id)) ?? refuseNotFound()
    return { shown, made: { type: 'balance', id } }
  })
}

/** A balance to be opened; without a name it is called after its currency. */
export interface BalanceTerms {
  readonly currency: string
  readonly name?: string | undefined
  readonly parentBalanceId: string | null
  readonly metadata: Readonly<Record<string, string>>
}

/**
 * Opens a balance in a transaction.
 *
 * @returns its id
 * @throws ProblemError `validation-error`, `customer-not-active`, `customer-restricted`, `limit-reached`
 */
export async function openWithin(
  tx: ChangeTransaction,
  by: AuditBy,
  customerId: string,
  { currency, name = `${currency} account`, parentBalanceId, metadata }: BalanceTerms,
): Promise<string> {
  const { client, ids, now } = tx
  const id = ids.next()
  await requireEnabled(client, customerId, currency)
  const barred = moneyProblem((await lockCustomer(client, customerId)) ?? refuseNotFound(), 'prepare')
  if (barred !== null) throw new ProblemError(barred)
  const parent =
    parentBalanceId === null
      ? null
      : ((await lockOneBalance(client, customerId, parentBalanceId)) ??
        refuseField('/parentBalanceId', 'not_found', 'No such balance.'))
  if (parent !== null) checkParent(parent, currency)
  if ((await countOpenBalances(client, customerId)) >= OPEN_BALANCES_MAX) {
    refuse('limit-reached', `A customer has at most ${OPEN_BALANCES_MAX} balances.`, {
      extra: { limit: OPEN_BALANCES_MAX, resource: 'balance' },
    })
  }
  await insertBalance(client, {
    id,
    customerId,
    currency,
    name,
    parentBalanceId,
    metadata: inStoredOrder(metadata),
    now,
  })
  const opened = (await lockOneBalance(client, customerId, id)) ?? refuseNotFound()
  await recordChange(tx, by, customerId, {
    action: 'balance.opened',
    object: { type: 'balance', id },
    before: null,
    after: state(opened),
  })
  return id
}

async function requireEnabled(client: TransactionClient, customerId: string, currency: string): Promise<void> {
  if (!isCurrencyCode(currency)) refuseField('/currency', 'invalid_value', 'No such currency.')
  if (WITHDRAWN_CURRENCIES[currency as CurrencyCode] !== undefined)
    refuseField('/currency', 'currency_withdrawn', `${currency} has ended.`)
  if (!OFFERED_CURRENCIES.has(currency as CurrencyCode))
    refuseField('/currency', 'invalid_value', `${currency} is not offered.`)
  // The setting is locked, shared with commands that change it, so that no currency is disabled while a balance in it
  // is opened.
  const setting = await readSetting(client, customerId, 'currencies', true)
  if (setting !== null && !(setting.value as { enabled: string[] }).enabled.includes(currency))
    refuseField('/currency', 'inactive', `${currency} is not enabled.`)
}

function checkParent(parent: BalanceRecord, currency: string): void {
  if (parent.type === 'sub') refuseField('/parentBalanceId', 'invalid_value', 'The balance is a sub-balance itself.')
  if (parent.currency !== currency)
    refuseField('/parentBalanceId', 'currency_mismatch', `The balance is in ${parent.currency}.`)
  if (parent.status !== 'active') refuseField('/parentBalanceId', 'inactive', `The balance is ${parent.status}.`)
}
