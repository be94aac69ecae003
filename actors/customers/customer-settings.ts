/** Reads and commands of a customer's settings, for the HTTP layer. */
import { timestamp } from '../../lib/base/clock.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import { belongsToOperator } from '../../storage/customers/customers.ts'
import { readSetting, writeSetting, type StoredSetting } from '../../storage/customers/settings.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import { listCurrencies, updateCurrencies } from './customer-currencies.ts'
import { getCustomerLimits, updateCustomerLimits } from './customer-limits.ts'
import type { CurrenciesWrite, CurrencySetting } from '../../lib/customers/currency-setting-schema.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import type { CustomerLimits, CustomerLimitsWrite } from '../../lib/customers/customer-limits-schema.ts'
import { SETTING_DEFAULTS, type SettingName, type SettingViews } from '../../lib/customers/customer-settings-schema.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { SettingsDeps } from './settings-deps.ts'
import { checkVersion } from '../../lib/commands/etag.ts'

/** Reads of settings. Null: no such customer in the tenant. */
export interface SettingsReads {
  /** Whether the tenant is the customer, or the operator that the customer belongs to. */
  reaches(tenant: Tenant, customerId: string): Promise<boolean>
  getCustomerLimits(customerId: string): Promise<Versioned<CustomerLimits> | null>
  listCurrencies(customerId: string): Promise<Versioned<readonly CurrencySetting[]>>
  /** Reads a settings document as it was set, or the defaults of a document that was never set. */
  getSetting<Name extends SettingName>(customerId: string, name: Name): Promise<Versioned<SettingViews[Name]>>
}

/** Commands of settings. Every refusal is thrown as a problem. */
export interface SettingsCommands {
  updateCustomerLimits(
    by: Caller<'person'>,
    customerId: string,
    body: CustomerLimitsWrite,
  ): Promise<Versioned<CustomerLimits>>
  updateCurrencies(
    by: Caller<'person'>,
    body: CurrenciesWrite,
    expected: number | bigint | null,
  ): Promise<Versioned<readonly CurrencySetting[]>>
  /** Changes the given members of a settings document; the other members stay. */
  updateSetting<Name extends SettingName>(
    by: Caller<'person'>,
    name: Name,
    change: object,
    expected: number | bigint | null,
  ): Promise<Versioned<SettingViews[Name]>>
}

/** Dependencies of the commands beside those of the reads. */
export interface SettingsCommandDeps extends SettingsDeps {
  /**
   * Waits until every node uses this version of the customer's preferences when it decides on the customer's
   * recipients.
   */
  readonly forgetRecipientsOf: (customerId: string, version: number) => Promise<void>
}

/** Creates the reads of settings. */
export function createSettingsReads(deps: SettingsDeps): SettingsReads {
  const { database } = deps
  return {
    async reaches(tenant, customerId) {
      if (tenant.kind === 'customer') return tenant.id === customerId
      return await belongsToOperator(database, customerId, tenant.id)
    },
    getCustomerLimits: (customerId) => getCustomerLimits(deps, customerId),
    listCurrencies: (customerId) => listCurrencies(deps, customerId),
    getSetting: async (customerId, name) => view(name, await readSetting(database.pool, customerId, name)),
  }
}

/** Creates the commands of settings. */
export function createSettingsCommands(deps: SettingsCommandDeps): SettingsCommands {
  return {
    updateCustomerLimits: (by, customerId, body) => updateCustomerLimits(deps, by, customerId, body),
    updateCurrencies: (by, body, expected) => updateCurrencies(deps, by, body, expected),
    async updateSetting(by, name, change, expected) {
      const { database, clock, ids } = deps
      const customerId = by.tenant.id
      const { was, value, version } = await inTransaction(database, async (client) => {
        const now = clock.now()
        const before = await readSetting(client, customerId, name, true)
        checkVersion({ version: before?.version ?? 0 }, expected)
        const was = (before?.value as object | undefined) ?? SETTING_DEFAULTS[name]
        const value = { ...was, ...change }
        await writeSetting(client, { ownerId: customerId, name, value, by: by.session.userId, now })
        await writeAudit(client, {
          ...auditCaller(by),
          id: ids.next(),
          tenantId: customerId,
          at: now,
          action: `${name}.updated`,
          object: { type: 'customer', id: customerId },
          before: was,
          after: value,
        })
        return { was, value, version: (before?.version ?? 0) + 1 }
      })
      if (wantsNamesChecked(was) !== wantsNamesChecked(value)) await deps.forgetRecipientsOf(customerId, version)
      return view(name, await readSetting(database.pool, customerId, name))
    },
  }
}

/** Whether a name that cannot be checked stops a recipient or a payment. Only the preferences have this member. */
const wantsNamesChecked = (setting: object): boolean =>
  'requireVerification' in setting && setting.requireVerification === true

/** The view of a document; only documents of its schema are written under its name. */
function view<Name extends SettingName>(name: Name, stored: StoredSetting | null): Versioned<SettingViews[Name]> {
  const value = (stored?.value as object | undefined) ?? SETTING_DEFAULTS[name]
  return {
    version: stored?.version ?? 0,
    view: {
      ...value,
      updatedBy: stored?.updatedBy ?? null,
      updatedAt: stored === null ? null : timestamp(stored.updatedAt),
    } as SettingViews[Name],
  }
}
