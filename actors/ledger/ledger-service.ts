/** The ledger of an operator as staff read it: the accounts of the chart, the entries, and the days that make both quick. */
import type { Clock } from '../../lib/base/clock.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type { LedgerAccount, ledgerAccountList, LedgerEntry, ledgerEntryList } from '../../lib/ledger/ledger-schema.ts'
import type { Database } from '../../storage/db/database.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { listLedgerAccounts } from '../../storage/ledger/ledger-accounts.ts'
import { addLedgerDays } from '../../storage/ledger/ledger-days.ts'
import { findLedgerEntry, listLedgerEntries } from '../../storage/ledger/ledger-entries.ts'
import type { Node } from '../runtime/node.ts'
import type { Task } from '../runtime/tasks.ts'
import { tellOfDays } from './own-money-alert.ts'

/** The reads. */
export interface LedgerReads {
  listAccounts(query: ListQuery<typeof ledgerAccountList>): Promise<ListResult<LedgerAccount>>
  listEntries(query: ListQuery<typeof ledgerEntryList>): Promise<ListResult<LedgerEntry>>
  /** Null when the operator has no such entry. */
  getEntry(tenant: Tenant, id: string): Promise<Versioned<LedgerEntry> | null>
}

export type LedgerService = ReturnType<typeof createLedgerService>

/** Creates the service. */
export function createLedgerService(node: Pick<Node, 'database' | 'clock' | 'ids'>) {
  return { reads: createLedgerReads(node), tasks: [ledgerDays(node)] }
}

function createLedgerReads({ database, clock }: { readonly database: Database; readonly clock: Clock }): LedgerReads {
  const db = readDatabase(database)
  return {
    listAccounts: (query) => listLedgerAccounts(db, database, query),
    listEntries: (query) => listLedgerEntries(db, database, { ...query, now: clock.now() }),
    async getEntry(tenant, id) {
      const found = tenant.kind === 'operator' ? await findLedgerEntry(database, tenant.id, id) : null
      // An entry never changes.
      return found === null ? null : { version: 1, view: found }
    },
  }
}

/** The task that adds the days that have ended. */
function ledgerDays({ database, clock, ids }: Pick<Node, 'database' | 'clock' | 'ids'>): Task {
  return {
    name: 'ledger.days',
    cron: '*/10 * * * *',
    // The first pass over a large ledger takes minutes.
    workers: 'lengthy',
    async run(_, { signal }) {
      let more: boolean
      do {
        const now = clock.now()
        more = await addLedgerDays(database, now, (client, from) => tellOfDays({ client, ids, now }, from))
      } while (more && !signal.aborted)
    },
  }
}
