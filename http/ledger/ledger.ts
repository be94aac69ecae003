/** The ledger of an operator: the accounts of its chart, and their entries. */
import { page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { PageOf } from '../../lib/contract/page.ts'
import { LedgerAccount, ledgerAccountList, LedgerEntry, ledgerEntryList } from '../../lib/ledger/ledger-schema.ts'

const READ = {
  tag: 'accounts',
  callers: 'staff',
  capability: 'treasury.read',
  scope: null,
  tenant: 'operator',
  idempotency: 'none',
} as const

export const listLedgerAccounts = route({
  ...READ,
  method: 'get',
  path: '/ledger/accounts',
  operationId: 'listLedgerAccounts',
  summary: 'List the accounts of the ledger',
  description:
    'The accounts of the chart with their balances. Accounts are made at their first use; `cust` are the balances of ' +
    'customers.',
  list: ledgerAccountList,
  success: {
    status: 200,
    description: 'A page of accounts.',
    schema: PageOf('LedgerAccountPage', LedgerAccount),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { ledger }) => page(list, await ledger.listAccounts(list)),
})

export const listLedgerEntries = route({
  ...READ,
  method: 'get',
  path: '/ledger/entries',
  operationId: 'listLedgerEntries',
  summary: 'List the entries of the ledger',
  description:
    'Entries in the order of their time. A filter on accounts or amounts finds entries of which one line matches; an ' +
    'entry is shown with all of its lines. The number of entries is not counted.',
  list: ledgerEntryList,
  success: {
    status: 200,
    description: 'A page of entries.',
    schema: PageOf('LedgerEntryPage', LedgerEntry),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { ledger }) => page(list, await ledger.listEntries(list)),
})

export const getLedgerEntry = route({
  ...READ,
  method: 'get',
  path: '/ledger/entries/{entryId}',
  operationId: 'getLedgerEntry',
  summary: 'Read an entry of the ledger',
  success: { status: 200, description: 'The entry.', schema: LedgerEntry, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { ledger }) => resource(await ledger.getEntry(tenant, params.entryId)),
})
