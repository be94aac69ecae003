/** Balances, their journal lines and their holds. */
import { seesOperatorFields } from '../../lib/identity/caller.ts'
import { keptPage, keptResource, page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { Balance, balanceList } from '../../lib/balances/balance-schema.ts'
import { Hold, holdList } from '../../lib/balances/hold-schema.ts'
import { JournalLine, journalList } from '../../lib/balances/journal-line-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'

export const listBalances = route({
  method: 'get',
  path: '/balances',
  operationId: 'listBalances',
  tag: 'accounts',
  summary: 'List balances',
  description: 'Operators read the balances of all their customers, narrowed with `filter[customerId]`.',
  callers: 'key',
  scope: 'balances:read',
  tenant: 'any',
  idempotency: 'none',
  list: balanceList,
  success: { status: 200, description: 'A page of balances.', schema: PageOf('BalancePage', Balance), etag: true },
  problems: [],
  handle: async ({ caller, list }, { balances }) =>
    page(list, await balances.listBalances(list, seesOperatorFields(caller))),
})

export const getBalance = route({
  method: 'get',
  path: '/balances/{balanceId}',
  operationId: 'getBalance',
  readByStaff: true,
  tag: 'accounts',
  summary: 'Read a balance',
  callers: 'key',
  scope: 'balances:read',
  tenant: 'customer',
  idempotency: 'none',
  success: { status: 200, description: 'The balance.', schema: Balance, etag: true },
  problems: [],
  handle: async ({ caller, tenant, params }, { balances }) =>
    seesOperatorFields(caller)
      ? resource(await balances.getOperatorBalance(tenant, params.balanceId))
      : keptResource(await balances.getBalance(tenant, params.balanceId)),
})

export const listBalanceJournal = route({
  method: 'get',
  path: '/balances/{balanceId}/journal',
  operationId: 'listBalanceJournal',
  readByStaff: true,
  tag: 'accounts',
  summary: 'List journal lines with the running balance',
  callers: 'key',
  scope: 'transactions:read',
  tenant: 'customer',
  idempotency: 'none',
  list: journalList,
  success: {
    status: 200,
    description: 'A page of journal lines.',
    schema: PageOf('JournalPage', JournalLine),
    etag: true,
  },
  problems: [],
  handle: async ({ list, params }, { balances }) =>
    keptPage(list, await balances.listJournal({ ...list, balanceId: params.balanceId })),
})

export const listBalanceHolds = route({
  method: 'get',
  path: '/balances/{balanceId}/holds',
  operationId: 'listBalanceHolds',
  readByStaff: true,
  tag: 'accounts',
  summary: 'List holds',
  description: 'By default active holds.',
  callers: 'key',
  scope: 'balances:read',
  tenant: 'customer',
  idempotency: 'none',
  list: holdList,
  success: { status: 200, description: 'A page of holds.', schema: PageOf('HoldPage', Hold), etag: true },
  problems: [],
  handle: async ({ list, params }, { balances }) =>
    page(list, await balances.listHolds({ ...list, balanceId: params.balanceId })),
})
