/** Mandates and collections at their banks: what travels by orders, its simulation, and the forms of mandates. */
import type { Command } from '../../lib/commands/command.ts'
import { debitCarriers } from '../../lib/providers/debit-carriers.ts'
import type { ProviderDescription } from '../../lib/providers/provider.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { SimCollectionStatus, SimMandateStatus } from '../../lib/sandbox/debit-simulation-schema.ts'
import type { DebitPartner, TakeDebitMessages } from '../providers/debits.ts'
import type { Background, Node } from '../runtime/node.ts'
import type { SandboxDebits } from '../sandbox/sandbox-debits.ts'
import { DebitQueue } from './debit-queue.ts'
import { LaterDebitOrders } from './later-debit-orders.ts'
import { createMandateDocuments } from './mandate-documents.ts'
import { simulateCollectionStatus, simulateMandateStatus } from './simulate-debit.ts'

export interface DebitOrderParts {
  /** Takes the banks' messages about mandates and collections. */
  readonly inbox: { readonly take: TakeDebitMessages }
  /** The banks of the connections, and the descriptions of their providers. */
  readonly partners: {
    readonly debits: DebitPartner
    readonly descriptions: readonly Pick<ProviderDescription, 'provider' | 'debits'>[]
  }
  readonly sandbox: { readonly debits: SandboxDebits }
}

export type DebitOrderService = ReturnType<typeof createDebitOrderService>

/** Creates the service. */
export function createDebitOrderService(node: Node, { inbox: messages, partners, sandbox }: DebitOrderParts) {
  const inbox: TakeDebitMessages = (told) => messages.take(told)
  const carriers = debitCarriers(partners.descriptions)
  const queue = new DebitQueue({ ...node, partner: partners.debits, inbox, carriers })
  const later = new LaterDebitOrders({ ...node, partner: partners.debits, inbox, carriers })
  const sandboxBank = sandbox.debits
  const simulations = { ...node, bank: sandboxBank }
  const background: readonly Background[] = [
    {
      name: 'queue of direct debits',
      start() {
        if (node.dispatch) {
          queue.start()
          later.start()
        }
        if (node.sandbox) sandboxBank.start(inbox)
      },
      async stop() {
        await sandboxBank.stop()
        await later.stop()
        await queue.stop()
      },
      async runOnce() {
        if (node.dispatch) {
          await queue.runOnce()
          await later.runOnce()
        }
        if (node.sandbox) await sandboxBank.runOnce()
      },
    },
  ]
  return {
    reads: { documents: createMandateDocuments(node) },
    commands: {
      simulateCollection: (by: Caller, collectionId: string, command: Command<SimCollectionStatus>) =>
        simulateCollectionStatus(simulations, by, collectionId, command),
      simulateMandate: (by: Caller, mandateId: string, command: Command<SimMandateStatus>) =>
        simulateMandateStatus(simulations, by, mandateId, command),
    },
    background,
  }
}
