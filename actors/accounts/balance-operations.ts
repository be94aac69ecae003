/** The operations on balances: open, change and close balances, and request the accounts behind them. */
import { closeBalance, type CloseBalanceDeps } from './close-balance.ts'
import type { AccountPartner } from '../providers/account-partner.ts'
import type { AccountDetailsJson } from '../../lib/accounts/details.ts'
import { scopeOf, standingOf } from '../../lib/accounts/requests.ts'
import { isCurrencyCode, WITHDRAWN_CURRENCIES, type CurrencyCode } from '../../lib/base/currency.ts'
import { OFFERED_CURRENCIES } from '../../lib/customers/currencies.ts'
import { inStoredOrder, patchedMetadata } from '../../lib/base/metadata.ts'
import { refuse, type FieldErrorCode } from '../../lib/base/problems.ts'
import { accountDetailsOf } from '../../storage/accounts/account-details.ts'
import { insertDetailsRequest, lockDetails } from '../../storage/accounts/account-requests.ts'
import {
  countOpenBalances,
  insertBalance,
  lockOneBalance,
  lockSiblings,
  setDefault,
  setDetailsStatus,
  updateBalance,
  type BalanceRecord,
} from '../../storage/balances/balance-changes.ts'
import { lockCustomer } from '../../storage/balances/closure.ts'
import { writeAudit } from '../../storage/trail/trail.ts'
import { readSetting } from '../../storage/customers/settings.ts'
import { inTransaction, type TransactionClient } from '../../storage/db/transaction.ts'
import type { ByInTenant } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import type {
  AccountDetailsRequest,
  Balance,
  BalanceClose,
  BalanceOpen,
  BalanceUpdate,
} from '../../lib/balances/balance-schema.ts'
import { fitsMetadata } from '../../lib/contract/primitives.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'

/**
 * The maximum number of balances of one customer that are not closed: more than a treasury needs, few enough to read at
 * once.
 */
const BALANCES_MAX = 200

export interface BalanceDeps extends CloseBalanceDeps {
  readonly accountPartner: AccountPartner
  readonly queries: { getBalance(tenant: Tenant, id: string): Promise<Versioned<Balance> | null> }
}

/** The writes. Every refusal is thrown as a problem. */
export interface BalanceCommands {
  open(by: ByInTenant, body: BalanceOpen): Promise<Versioned<Balance>>
  update(by: ByInTenant, id: string, body: BalanceUpdate, expected: number | bigint | null): Promise<Versioned<Balance>>
  close(by: ByInTenant, id: string, body: BalanceClose): Promise<Versioned<Balance>>
  requestDetails(by: ByInTenant, id: string, body: AccountDetailsRequest): Promise<AccountDetailsJson>
}

const gone = (): never => refuse('not-found', 'No such resource exists in this tenant.')
const wrong = (field: string, code: FieldErrorCode, message: string): never =>
  refuse('validation-error', message, { errors: [{ field, code, message }] })

/** The part of a balance that the trail keeps. */
function state({
  currency,
  name,
  parentBalanceId,
  status,
  isDefault,
  lowBalanceThreshold,
  metadata,
}: Pick<
  BalanceRecord,
  'currency' | 'name' | 'parentBalanceId' | 'status' | 'isDefault' | 'lowBalanceThreshold' | 'metadata'
>): object {
  return {
    currency,
    name,
    parentBalanceId,
    status,
    isDefault,
    lowBalanceThreshold: lowBalanceThreshold?.toString() ?? null,
    metadata,
  }
}

export function createBalanceCommands(world: BalanceDeps): BalanceCommands {
  const { database, clock, ids, accountPartner, queries } = world

  async function audit(
    client: TransactionClient,
    by: ByInTenant,
    now: number,
    action: string,
    object: { readonly type: string; readonly id: string },
    before: object | null,
    after: object | null,
  ): Promise<void> {
    await writeAudit(client, {
      ...auditCaller(by),
      id: ids.next(),
      tenantId: by.tenant.id,
      at: now,
      action,
      object,
      before,
      after,
    })
  }

  async function reread(by: ByInTenant, id: string): Promise<Versioned<Balance>> {
    return (await queries.getBalance(by.tenant, id)) ?? gone()
  }

  async function mustBeEnabled(client: TransactionClient, customerId: string, currency: string): Promise<void> {
    if (!isCurrencyCode(currency)) wrong('/currency', 'invalid_value', 'No such currency.')
    if (WITHDRAWN_CURRENCIES[currency as CurrencyCode] !== undefined)
      wrong('/currency', 'currency_withdrawn', `${currency} has ended.`)
    if (!OFFERED_CURRENCIES.has(currency as CurrencyCode))
      wrong('/currency', 'invalid_value', `${currency} is not offered.`)
    // The setting is locked, shared with commands that change it, so that no currency is disabled while a balance in it
    // is opened.
    const setting = await readSetting(client, customerId, 'currencies', true)
    if (setting !== null && !(setting.value as { enabled: string[] }).enabled.includes(currency))
      wrong('/currency', 'inactive', `${currency} is not enabled.`)
  }

  return {
    async open(by, { currency, name = `${currency} account`, parentBalanceId = null, metadata = {} }) {
      const customerId = by.tenant.id
      const id = ids.next()
      await inTransaction(database, async (client) => {
        const now = clock.now()
        await mustBeEnabled(client, customerId, currency)
        const status = await lockCustomer(client, customerId)
        if (status !== 'active') refuse('customer-not-active', `The customer is ${status}.`, { extra: { status } })
        const parent =
          parentBalanceId === null
            ? null
            : ((await lockOneBalance(client, customerId, parentBalanceId)) ??
              wrong('/parentBalanceId', 'not_found', 'No such balance.'))
        if (parent !== null) checkParent(parent, currency)
        if ((await countOpenBalances(client, customerId)) >= BALANCES_MAX) {
          refuse('limit-reached', `A customer has at most ${BALANCES_MAX} balances.`, {
            extra: { limit: BALANCES_MAX, resource: 'balance' },
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
        const opened = (await lockOneBalance(client, customerId, id)) ?? gone()
        await audit(client, by, now, 'balance.opened', { type: 'balance', id }, null, state(opened))
      })
      return await reread(by, id)
    },

    async update(by, id, body, expected) {
      await inTransaction(database, async (client) => {
        const now = clock.now()
        const siblings = await lockSiblings(client, by.tenant.id, id)
        const before = siblings.find((sibling) => sibling.id === id) ?? gone()
        if (expected !== null && BigInt(expected) !== before.version)
          refuse('precondition-failed', 'The balance has changed since it was read.')
        const after = {
          ...before,
          name: body.name ?? before.name,
          isDefault: body.isDefault ?? before.isDefault,
          lowBalanceThreshold: thresholdOf(body, before),
          metadata: body.metadata === undefined ? before.metadata : patchedMetadata(before.metadata, body.metadata),
        }
        if (!fitsMetadata(after.metadata))
          wrong('/metadata', 'too_large', 'There are more than 50 keys, or more than 16 KiB of them.')
        checkDefault(before, after.isDefault)
        if (before.status === 'closed')
          refuse('invalid-transition', 'The balance is closed.', {
            extra: { currentStatus: 'closed', allowed: ['active', 'frozen', 'closing'] },
          })
        if (after.isDefault && !before.isDefault) {
          if (before.status !== 'active')
            refuse('invalid-transition', `The balance is ${before.status}.`, {
              extra: { currentStatus: before.status, allowed: ['active'] },
            })
          const old = siblings.find((sibling) => sibling.isDefault)
          if (old !== undefined) await setDefault(client, old.id, false, now)
        }
        await updateBalance(client, id, after, now)
        await audit(client, by, now, 'balance.updated', { type: 'balance', id }, state(before), state(after))
      })
      return await reread(by, id)
    },

    async close(by, id, { sweepToBalanceId = null }) {
      const { principal } = by
      await closeBalance(
        world,
        {
          customerId: by.tenant.id,
          balanceId: id,
          sweepToBalanceId,
          createdBy: principal.id,
          createdVia: principal.createdVia,
        },
        (client, { before, status, transferId }, now) =>
          audit(client, by, now, 'balance.closed', { type: 'balance', id }, state(before), {
            ...state({ ...before, status, isDefault: false }),
            transferId,
          }),
      )
      return await reread(by, id)
    },

    async requestDetails(by, balanceId, { rails }) {
      const id = ids.next()
      await inTransaction(database, async (client) => {
        const now = clock.now()
        const balance = (await lockOneBalance(client, by.tenant.id, balanceId)) ?? gone()
        const offer = scopeOf(rails, accountPartner.offers(balance.currency as CurrencyCode))
        if ('field' in offer) refuse('validation-error', offer.message, { errors: [offer] })
        if (balance.status !== 'active')
          refuse('invalid-transition', `The balance is ${balance.status}.`, {
            extra: { currentStatus: balance.status, allowed: ['active'] },
          })
        const known = await lockDetails(client, balanceId)
        if (known.some(({ scope, status }) => scope === offer.scope && status === 'pending')) {
          refuse('invalid-transition', 'Details like these have been asked for and are on their way.', {
            extra: { currentStatus: 'pending', allowed: ['active', 'failed', 'closed'] },
          })
        }
        await insertDetailsRequest(client, {
          id,
          balanceId,
          scope: offer.scope,
          rails: offer.rails.filter((rail) => rails.includes(rail)),
          now,
        })
        await setDetailsStatus(client, balanceId, standingOf([...known, { status: 'pending' }]), now)
        await audit(client, by, now, 'account_details.requested', { type: 'account_details', id }, null, {
          balanceId,
          rails,
        })
      })
      return (
        (await accountDetailsOf(database, [balanceId])).get(balanceId)?.find((details) => details.id === id) ?? gone()
      )
    },
  }
}

function checkParent(parent: BalanceRecord, currency: string): void {
  if (parent.type === 'sub') wrong('/parentBalanceId', 'invalid_value', 'The balance is a sub-balance itself.')
  if (parent.currency !== currency)
    wrong('/parentBalanceId', 'currency_mismatch', `The balance is in ${parent.currency}.`)
  if (parent.status !== 'active') wrong('/parentBalanceId', 'inactive', `The balance is ${parent.status}.`)
}

/** Checks the default: each currency has one default balance, which is never a sub-balance. */
function checkDefault(before: BalanceRecord, isDefault: boolean): void {
  if (isDefault && before.type === 'sub') wrong('/isDefault', 'not_applicable', 'A sub-balance is not a default.')
  if (before.isDefault && !isDefault)
    wrong('/isDefault', 'invalid_value', 'Make another balance of the currency the default.')
}

function thresholdOf({ lowBalanceThreshold: threshold }: BalanceUpdate, before: BalanceRecord): bigint | null {
  if (threshold === undefined) return before.lowBalanceThreshold
  if (threshold === null) return null
  if (threshold.currency !== before.currency)
    wrong('/lowBalanceThreshold/currency', 'currency_mismatch', `The balance is in ${before.currency}.`)
  const amount = BigInt(threshold.amountMinor)
  if (amount < 0n) wrong('/lowBalanceThreshold/amountMinor', 'too_small', 'The threshold is below zero.')
  return amount
}
