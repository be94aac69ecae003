/** Balances: what they hold and what moved them, their opening, settings and closing. */
import { createBalanceReads } from '../balances/balance-reads.ts'
import type { AccountPartner } from '../providers/account-partner.ts'
import { background, type Node } from '../runtime/node.ts'
import { createBalanceCommands } from './balance-operations.ts'
import type { BalanceDeps } from './balance-record.ts'
import { StaffHoldEnds } from './staff-hold-ends.ts'
import { createStaffHoldCommands, createStaffHoldReads } from './staff-holds.ts'

export type BalanceService = ReturnType<typeof createBalanceService>

/** Creates the service. */
export function createBalanceService(
  node: Node,
  { gate, accountBook }: Pick<BalanceDeps, 'gate'> & { readonly accountBook: AccountPartner },
) {
  const reads = createBalanceReads(node)
  return {
    reads: { ...reads, ...createStaffHoldReads(node) },
    commands: {
      ...createBalanceCommands({ ...node, gate, accountPartner: accountBook, queries: reads }),
      ...createStaffHoldCommands({ ...node, queries: reads }),
    },
    background: [background('holds of staff', new StaffHoldEnds(node))],
  }
}
