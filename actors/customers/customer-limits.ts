/** The operations on limits for the HTTP layer. */
import { limitsJson } from '../../lib/customers/limits.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { timestamp } from '../../lib/base/clock.ts'
import { moneyJson } from '../../lib/base/money.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { readLimits, readUsed, writeLimits, type LimitsRecord } from '../../storage/customers/customer-limits.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { SettingsDeps } from './settings-deps.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import { limitsOfBody } from '../../lib/customers/limits-of-body.ts'
import type { CustomerLimits, CustomerLimitsWrite } from '../../lib/customers/customer-limits-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'

/** Reads the limits of a customer and the amounts used of them; null when there is no such customer. */
export async function getCustomerLimits(
  { database, clock }: SettingsDeps,
  customerId: string,
): Promise<Versioned<CustomerLimits> | null> {
  const [record, used] = await Promise.all([
    readLimits(database.pool, customerId),
    readUsed(database.pool, customerId, clock.now()),
  ])
  return record === null ? null : { version: record.version, view: view(customerId, record, used) }
}

/** Sets the limits of a customer. Effective at once, on every node. */
export async function updateCustomerLimits(
  deps: SettingsDeps,
  by: Caller<'person'>,
  customerId: string,
  { limits }: CustomerLimitsWrite,
): Promise<Versioned<CustomerLimits>> {
  const { database, clock, ids } = deps
  const terms = limits === null ? null : limitsOfBody(limits, '/limits')
  await inTransaction(database, async (client) => {
    const now = clock.now()
    const before = await readLimits(client, customerId)
    if (before === null) refuseNotFound()
    await writeLimits(client, { customerId, limits: terms, by: by.session.userId, now })
    await writeAudit(client, {
      ...auditCaller(by),
      id: ids.next(),
      tenantId: customerId,
      at: now,
      action: 'customer_limits.updated',
      object: { type: 'customer', id: customerId },
      before: before.source === 'customer' ? limitsJson(before.limits) : null,
      after: terms === null ? null : limitsJson(terms),
    })
  })
  const found = await getCustomerLimits(deps, customerId)
  if (found === null) throw new Error(`The customer ${customerId} has vanished.`)
  return found
}

function view(
  customerId: string,
  { source, limits, updatedBy, updatedAt }: LimitsRecord,
  used: Awaited<ReturnType<typeof readUsed>>,
): CustomerLimits {
  return {
    customerId,
    source,
    limits: limits.map(({ currency, single, daily, monthly }) => {
      const money = (amountMinor: bigint) => moneyJson({ amountMinor, currency: currency as CurrencyCode })
      const use = (limit: bigint | null, amount: bigint) =>
        limit === null ? null : { used: money(amount), remaining: money(limit > amount ? limit - amount : 0n) }
      const { day, month } = used.get(currency) ?? { day: { amount: 0n }, month: { amount: 0n } }
      return {
        currency,
        single: single === null ? null : money(single),
        daily: daily === null ? null : money(daily),
        monthly: monthly === null ? null : money(monthly),
        today: use(daily, day.amount),
        thisMonth: use(monthly, month.amount),
      }
    }),
    updatedBy,
    updatedAt: updatedAt === null ? null : timestamp(updatedAt),
  }
}
