/** Transfers: their reads and commands, and the orders to the partner that books them. */
import type { ScreeningGate } from '../../lib/compliance/screening.ts'
import type { ComplianceService } from '../compliance/compliance-service.ts'
import type { BookTransferPartner } from '../providers/book-transfers.ts'
import { background, type Node } from '../runtime/node.ts'
import { heldTransfer, transferExceptions, TransferOrders } from './transfer-orders.ts'
import { createTransferCommands } from './transfer-operations.ts'
import { createTransferReads } from './transfer-reads.ts'

/** The nouns and partners that transfers need. */
export interface TransferServiceParts {
  readonly compliance: Pick<ComplianceService, 'addHeld' | 'addExceptions'>
  readonly gate: ScreeningGate
  readonly partner: BookTransferPartner
}

export type TransferService = ReturnType<typeof createTransferService>

/** Creates the service. */
export function createTransferService(node: Node, { compliance, gate, partner }: TransferServiceParts) {
  compliance.addHeld({ transfer: heldTransfer(node) })
  compliance.addExceptions({ transfer: transferExceptions(node) })
  const orders = background('transfer orders', new TransferOrders({ ...node, partner, gate }))
  return {
    reads: createTransferReads(node),
    commands: createTransferCommands({ ...node, gate }, node.answers),
    background: node.dispatch ? [orders] : [],
  }
}
