/** The queue of payments to the bank, with the bell that nodes ring for each other and the gate of compliance. */
import { ShardBell } from '../runtime/shard-bell.ts'
import type { BankMessage } from '../providers/bank.ts'
import { background, type Background, type Node } from '../runtime/node.ts'
import type { BankPartner, RecallPartner } from '../providers/bank.ts'
import { Detours } from '../providers/routing/detours.ts'
import type { RoutingTable } from '../providers/routing/routing-table.ts'
import type { SandboxBank } from '../sandbox/sandbox-bank.ts'
import { foreseeMessages } from './bank-messages.ts'
import { ComplianceGate } from './payment-compliance.ts'
import { PaymentMover } from './payment-mover.ts'
import { PaymentQueue } from './payment-queue.ts'
import { Recalls } from './recalls.ts'

export type QueueService = ReturnType<typeof createQueueService>

export interface QueueServiceParts {
  /** Takes the orders of every connection. */
  readonly bank: BankPartner & RecallPartner
  /** Reports on the orders of its connections by itself. */
  readonly sandboxBank: SandboxBank
  readonly routing: { readonly table: RoutingTable }
}

/** Creates the queue. It stands before the nouns that put payments into it. */
export function createQueueService(node: Node, { bank, sandboxBank, routing }: QueueServiceParts) {
  const { database, listener, shards, onError } = node
  // A single node owns every shard (`owned()` is null), so it needs no bell.
  const bell =
    shards.owned() === null
      ? null
      : new ShardBell({
          listener,
          database,
          shards,
          channel: 'payment_waits',
          onRing: () => queue.look(),
          onError,
        })
  const queue: PaymentQueue = new PaymentQueue({
    ...node,
    bank,
    detours: new Detours({ ...node, routing: routing.table }),
    elsewhere: (shard) => bell?.ring(shard),
  })
  const dispatching: readonly Background[] = [
    {
      name: 'payment queue',
      async start() {
        await queue.start()
        if (node.sandbox) sandboxBank.start(queue.inbox)
      },
      async stop() {
        bell?.stop()
        await sandboxBank.stop()
        await queue.stop()
      },
      async runOnce() {
        await Promise.all([queue.runOnce(), sandboxBank.runOnce()])
      },
    },
    background('recalls', new Recalls({ ...node, bank })),
  ]
  const mover = new PaymentMover(node)
  /** For the inbox of providers. */
  const messages = {
    inbox: queue.inbox,
    foresee: (of: readonly BankMessage[]) => foreseeMessages({ ...node, mover }, of),
  }
  return { queue, messages, gate: new ComplianceGate(node), background: node.dispatch ? dispatching : [] }
}
