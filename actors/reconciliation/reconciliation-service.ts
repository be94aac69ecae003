/** Reconciliation: statements of partners against the books, the breaks between them, and the trial balance. */
import type { BankInbox } from '../providers/bank.ts'
import type { StatementPartner } from '../providers/statements.ts'
import type { Node } from '../runtime/node.ts'
import { countBreaks } from '../../storage/reconciliation/reconciliation-items.ts'
import { Reconciliations } from './reconciliations.ts'
import { Breaks } from './resolve-break.ts'
import { createTreasuryCommands, createTreasuryReads } from './treasury-operations.ts'

/** The partner, and the inbox for messages that the statement has and no message of the bank brought. */
export interface ReconciliationServiceParts {
  readonly partner: StatementPartner
  readonly inbox: BankInbox
}

export type ReconciliationService = ReturnType<typeof createReconciliationService>

/** Creates the service. */
export function createReconciliationService(node: Node, { partner, inbox }: ReconciliationServiceParts) {
  const reconciliations = new Reconciliations({
    ...node,
    partner,
    inbox,
    readStatement: node.workers.readStatement,
  })
  const reads = createTreasuryReads(node)
  return {
    reads,
    commands: createTreasuryCommands({ ...node, breaks: new Breaks(node), reads }),
    tasks: reconciliations.tasks(),
    /** Counts the open breaks for staff. */
    countBreaks: () => countBreaks(node.database),
  }
}
