/** Currencies that the operator offers and that the customer has enabled. */
import { refuseNotFound } from '../../lib/base/problems.ts'
import { route } from '../route/route.ts'
import { onePage, type PageView } from '../route/answer.ts'
import type { Answer } from '../../lib/commands/answer.ts'
import { CurrenciesWrite, CurrencyQuery, CurrencySetting } from '../../lib/customers/currency-setting-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

const CurrencyPage = PageOf('CurrencyPage', CurrencySetting)

/** Answers with the currencies of the query. */
function rows(all: Versioned<readonly CurrencySetting[]>, enabled?: string): Answer<PageView<CurrencySetting>, 200> {
  const { view } = all
  return onePage(enabled === undefined ? view : view.filter((currency) => String(currency.enabled) === enabled), all)
}

/** @throws ProblemError `not-found` for a customer that the tenant does not reach */
async function reach(
  tenant: Tenant | null,
  customerId: string,
  settings: { reaches(tenant: Tenant, customerId: string): Promise<boolean> },
): Promise<string> {
  if (tenant === null || !(await settings.reaches(tenant, customerId))) refuseNotFound()
  return customerId
}

export const listCurrencies = route({
  method: 'get',
  path: '/currencies',
  operationId: 'listCurrencies',
  tag: 'accounts',
  summary: 'List the currencies',
  callers: 'key',
  scope: 'balances:read',
  tenant: 'customer',
  idempotency: 'none',
  query: CurrencyQuery,
  success: { status: 200, description: 'All currencies, by code.', schema: CurrencyPage, etag: true },
  problems: [],
  handle: async ({ tenant, query }, { customers }) => rows(await customers.listCurrencies(tenant.id), query.enabled),
})

export const listCustomerCurrencies = route({
  method: 'get',
  path: '/customers/{customerId}/settings/currencies',
  operationId: 'listCustomerCurrencies',
  tag: 'accounts',
  summary: 'List the currencies of a customer',
  callers: 'key',
  scope: 'balances:read',
  tenant: 'any',
  idempotency: 'none',
  query: CurrencyQuery,
  success: { status: 200, description: 'All currencies, by code.', schema: CurrencyPage, etag: true },
  problems: [],
  handle: async ({ tenant, params, query }, { customers }) =>
    rows(await customers.listCurrencies(await reach(tenant, params.customerId, customers)), query.enabled),
})

export const updateCustomerCurrencies = route({
  method: 'put',
  path: '/customers/{customerId}/settings/currencies',
  operationId: 'updateCustomerCurrencies',
  tag: 'accounts',
  summary: 'Enable currencies',
  description: 'Enables exactly the given currencies. A currency with an open balance cannot be disabled.',
  callers: 'session',
  capability: 'settings.manage',
  scope: null,
  tenant: 'customer',
  idempotency: 'none',
  ifMatch: true,
  current: async ({ tenant, params }, { customers }) =>
    await customers.listCurrencies(await reach(tenant, params.customerId, customers)),
  body: CurrenciesWrite,
  success: { status: 200, description: 'All currencies after the change.', schema: CurrencyPage, etag: true },
  problems: [],
  handle: async ({ caller, body, expectedVersion }, { customers }) =>
    rows(await customers.updateCurrencies(caller, body, expectedVersion)),
})
