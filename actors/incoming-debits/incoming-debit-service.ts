/** Incoming debits: those that the bank reports, the customer's decisions on them, and the controls of balances. */
import type { Tenant } from '../../lib/commands/caller.ts'
import {
  getIncomingDebit,
  listIncomingDebits,
  type IncomingDebitListQuery,
} from '../../storage/incoming-debits/incoming-debit-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import type { IncomingDebitPartner } from '../providers/incoming-debits.ts'
import type { Node } from '../runtime/node.ts'
import type { SandboxCredits } from '../sandbox/sandbox-credits.ts'
import { getDebitControls } from './debit-controls.ts'
import { createIncomingDebitCommands } from './incoming-debit-operations.ts'
import { IncomingDebits } from './incoming-debits.ts'

export type IncomingDebitService = ReturnType<typeof createIncomingDebitService>

/** Creates the service. */
export function createIncomingDebitService(
  node: Node,
  {
    partner,
    sandbox,
  }: {
    /** Takes the answers of every connection. */
    readonly partner: IncomingDebitPartner
    /** The debits of the sandbox bank. */
    readonly sandbox: Pick<SandboxCredits, 'announceDebit' | 'reportDebitsTo'>
  },
) {
  const debits = new IncomingDebits({ ...node, partner })
  sandbox.reportDebitsTo(debits.inbox)
  const db = readDatabase(node.database)
  return {
    reads: {
      listIncomingDebits: (query: IncomingDebitListQuery) => listIncomingDebits(db, query),
      getIncomingDebit: (tenant: Tenant, id: string) => getIncomingDebit(node.database.pool, tenant, id),
      getDebitControls: (tenant: Tenant, balanceId: string) => getDebitControls(node, tenant, balanceId),
    },
    commands: createIncomingDebitCommands({ ...node, bank: sandbox }),
    /** For the inbox of providers. */
    messages: { inbox: debits.inbox },
    background: [{ name: 'incoming debits', start: () => debits.start(), stop: () => debits.stop() }],
    tasks: [debits.task()],
  }
}
