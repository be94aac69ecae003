/** The partners of a node: banks and account books of the sandbox. No partner starts before its noun does. */
import type { Node } from '../runtime/node.ts'
import { SandboxAccountBook } from './sandbox-account-book.ts'
import { SandboxBank } from './sandbox-bank.ts'
import { SandboxBookTransfers } from './sandbox-book-transfers.ts'
import { SandboxCredits } from './sandbox-credits.ts'
import { SandboxDebits } from './sandbox-debits.ts'
import { SandboxFx } from './sandbox-fx.ts'
import { SandboxStatements } from './sandbox-statements.ts'

export type SandboxPartners = ReturnType<typeof createSandboxPartners>

/** Creates the partners. */
export function createSandboxPartners(
  node: Pick<Node, 'clock' | 'database' | 'onError' | 'shards' | 'snapshots' | 'wakes'>,
) {
  return {
    bank: new SandboxBank(node),
    credits: new SandboxCredits(node),
    bookTransfers: new SandboxBookTransfers(node),
    // A statement is read as of one moment.
    statements: new SandboxStatements({ database: node.snapshots, clock: node.clock }),
    accountBook: new SandboxAccountBook(node),
    exchanges: new SandboxFx(node),
    debits: new SandboxDebits(node),
  }
}
