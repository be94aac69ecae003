/** Incoming payments: credits that the bank reports, suspense, and the decisions of staff on both. */
import type { ComplianceService } from '../compliance/compliance-service.ts'
import type { CreditPartner } from '../providers/credits.ts'
import type { SandboxCredits } from '../sandbox/sandbox-credits.ts'
import type { Node } from '../runtime/node.ts'
import { heldIncoming } from './incoming-cases.ts'
import { createIncomingCommands } from './incoming-payment-operations.ts'
import { createIncomingPaymentReads } from './incoming-payment-reads.ts'
import { IncomingPayments } from './incoming-payments.ts'

export type IncomingPaymentService = ReturnType<typeof createIncomingPaymentService>

/** Creates the service. */
export function createIncomingPaymentService(
  node: Node,
  {
    compliance,
    partner,
    credits,
  }: {
    readonly compliance: Pick<ComplianceService, 'addHeld'>
    /** Takes the returns of every connection. */
    readonly partner: CreditPartner
    /** The credits of the sandbox bank. */
    readonly credits: SandboxCredits
  },
) {
  const incoming = new IncomingPayments({ ...node, partner })
  compliance.addHeld({ incoming_payment: heldIncoming(node) })
  return {
    reads: createIncomingPaymentReads(node),
    commands: createIncomingCommands({ ...node, bank: credits }),
    /** For the inbox of providers. */
    messages: { inbox: incoming.inbox },
    background: [
      {
        name: 'incoming payments',
        start() {
          incoming.start()
          if (node.sandbox) credits.start(incoming.inbox)
        },
        async stop() {
          await credits.stop()
          await incoming.stop()
        },
      },
    ],
  }
}
