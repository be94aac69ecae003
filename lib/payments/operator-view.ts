/** Payments as the staff of the operator see them: with what their customers never see. */
import type { KeptRouting } from '../providers/routing.ts'
import { paymentJson, type PaymentRecord, type QueuePlace } from './payment.ts'

/** Makes the payment as the API shows it to the operator; `queued` as for `paymentJson`. */
export const operatorPaymentJson = (payment: PaymentRecord, queued: QueuePlace | null) => ({
  ...paymentJson(payment, queued),
  exception: payment.exception,
  providerRef: payment.providerRef,
  connectionId: payment.connectionId,
  routing: payment.routing === null ? null : routingJson(payment.routing),
})

const routingJson = ({ ruleId, connectionId, reason }: KeptRouting) => ({ ruleId, connectionId, reason })
