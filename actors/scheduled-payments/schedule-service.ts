/** Scheduled payments: their reads and commands, and the poller that makes the payments that are due. */
import type { RecipientCache } from '../../storage/recipients/recipient-cache.ts'
import { background, type Node } from '../runtime/node.ts'
import { createScheduledPaymentCommands, createScheduledPaymentReads } from './schedule-operations.ts'
import { ScheduledPayments, type ScheduledPaymentsOptions } from './scheduled-payments.ts'

/** The nouns that scheduled payments need. */
export interface ScheduleServiceParts {
  readonly payments: { readonly paying: ScheduledPaymentsOptions['flow'] }
  readonly recipients: { readonly directory: RecipientCache }
}

export type ScheduleService = ReturnType<typeof createScheduleService>

/** Creates the service. */
export function createScheduleService(node: Node, { payments, recipients }: ScheduleServiceParts) {
  return {
    reads: createScheduledPaymentReads(node),
    commands: createScheduledPaymentCommands({ ...node, recipients: recipients.directory }),
    background: [background('scheduled payments', new ScheduledPayments({ ...node, flow: payments.paying }))],
  }
}
