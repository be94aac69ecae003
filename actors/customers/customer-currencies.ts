/**
 * The currencies of a customer: the offered ones, and those of them that the customer has enabled. All offered
 * currencies are enabled until the customer sets a list.
 */
import { isCurrencyCode, WITHDRAWN_CURRENCIES } from '../../lib/base/currency.ts'
import { currencySetting, LISTED_CURRENCIES, OFFERED_CURRENCIES } from '../../lib/customers/currencies.ts'
import { refuse, type FieldError } from '../../lib/base/problems.ts'
import { openBalances } from '../../storage/balances/balance-currencies.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import { readSetting, writeSetting } from '../../storage/customers/settings.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { SettingsDeps } from './settings-deps.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import type { CurrenciesWrite, CurrencySetting } from '../../lib/customers/currency-setting-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

const NAME = 'currencies'

/** Lists all currencies, with the version of the customer's setting. */
export async function listCurrencies(
  { database }: SettingsDeps,
  customerId: string,
): Promise<Versioned<readonly CurrencySetting[]>> {
  const [stored, balances] = await Promise.all([
    readSetting(database.pool, customerId, NAME),
    openBalances(database.pool, customerId),
  ])
  const enabled =
    stored === null ? (OFFERED_CURRENCIES as ReadonlySet<string>) : new Set((stored.value as CurrenciesWrite).enabled)
  return {
    version: stored?.version ?? 0,
    view: LISTED_CURRENCIES.map((code) =>
      currencySetting(
        code,
        enabled.has(code),
        balances.filter(({ currency }) => currency === code).map(({ id }) => id),
      ),
    ),
  }
}

/** Enables exactly these currencies. A currency in which the customer has an open balance stays enabled. */
export async function updateCurrencies(
  deps: SettingsDeps,
  by: Caller<'person'>,
  { enabled }: CurrenciesWrite,
  expected: number | bigint | null,
): Promise<Versioned<readonly CurrencySetting[]>> {
  const { database, clock, ids } = deps
  const customerId = by.tenant.id
  const errors = enabled.flatMap((code, index): FieldError[] => {
    const field = `/enabled/${index}`
    if (!isCurrencyCode(code)) return [{ field, code: 'invalid_value', message: 'No such currency.' }]
    if (WITHDRAWN_CURRENCIES[code] !== undefined)
      return [{ field, code: 'currency_withdrawn', message: `${code} has ended.` }]
    return OFFERED_CURRENCIES.has(code) ? [] : [{ field, code: 'invalid_value', message: `${code} is not offered.` }]
  })
  if (errors.length > 0) refuse('validation-error', 'Some currencies cannot be enabled.', { errors })
  await inTransaction(database, async (client) => {
    const now = clock.now()
    const before = await readSetting(client, customerId, NAME, true)
    checkVersion({ version: before?.version ?? 0 }, expected)
    const kept = (await openBalances(client, customerId)).find(({ currency }) => !enabled.includes(currency))
    if (kept !== undefined) {
      const message = `There is an open balance in ${kept.currency}; close it first.`
      refuse('validation-error', message, { errors: [{ field: '/enabled', code: 'invalid_value', message }] })
    }
    const value = { enabled: [...enabled].sort() }
    await writeSetting(client, { ownerId: customerId, name: NAME, value, by: by.session.userId, now })
    await writeAudit(client, {
      ...auditCaller(by),
      id: ids.next(),
      tenantId: customerId,
      at: now,
      action: 'currencies.updated',
      object: { type: 'customer', id: customerId },
      before: (before?.value as object | undefined) ?? null,
      after: value,
    })
  })
  return await listCurrencies(deps, customerId)
}
