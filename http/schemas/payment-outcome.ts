/** What becomes of payments after they have left: their history, recalls, and what a sandbox can make of them. */
import Type, { type Static } from 'typebox'
import { RECALL_REASONS } from '../../lib/payments/recall.ts'
import { RECALL_REJECTIONS, SIMULATED_STATUSES } from '../../lib/sandbox/payment-simulations.ts'
import { list } from '../list.ts'
import { PaymentStatus } from './payment.ts'
import { Nullable, PositiveMoney, Text, Timestamp, Uuid, Words } from './primitives.ts'

export const PaymentStatusUpdate = Type.Object({
  id: Uuid,
  paymentId: Uuid,
  status: PaymentStatus,
  previousStatus: Nullable(PaymentStatus),
  message: Type.String(),
  actor: Words('UpdateActor', ['system', 'member', 'partner']),
  at: Timestamp,
}, { title: 'PaymentStatusUpdate' })
export type PaymentStatusUpdate = Static<typeof PaymentStatusUpdate>

export const paymentStatusUpdateList = list({ filters: {}, sorts: ['-at', 'at'] })

export const PaymentRecallRequest = Type.Object({
  reasonCode: Words('RecallReason', RECALL_REASONS),
  note: Text(10, 500, { description: 'For the banks.' }),
}, { title: 'PaymentRecallRequest', additionalProperties: false, examples: [{ reasonCode: 'DUPL', note: 'The invoice was paid twice by mistake.' }] })
export type PaymentRecallRequest = Static<typeof PaymentRecallRequest>

/** A simulation that takes longer is of no use to a test. */
const DELAY_SECONDS_MAX = 300

const SchemeCode = Type.String({ pattern: '^[A-Z0-9]{1,4}$', title: 'SchemeCode', description: 'A reason code of the scheme; one that nobody has listed is shown as `unknown`.' })
const delaySeconds = Type.Optional(Type.Integer({ minimum: 0, maximum: DELAY_SECONDS_MAX }))
const STATUS = {
  status: Words('SimulatedPaymentStatus', SIMULATED_STATUSES),
  reasonCode: Type.Optional(Nullable(SchemeCode, { description: 'With `failed`; AC01 unless said otherwise.' })),
}

export const SimPaymentStatus = Type.Object({ ...STATUS, delaySeconds }, { title: 'SimPaymentStatus', additionalProperties: false, examples: [{ status: 'failed', reasonCode: 'AC04' }] })
export type SimPaymentStatus = Static<typeof SimPaymentStatus>

export const SandboxPaymentStatus = Type.Object(STATUS, { title: 'SandboxPaymentStatus', additionalProperties: false, examples: [{ status: 'completed' }] })

export const SimPaymentReturn = Type.Object({
  reasonCode: Type.Optional(SchemeCode),
  amount: Type.Optional(Nullable(PositiveMoney, { description: 'All of it unless said otherwise.' })),
  note: Type.Optional(Nullable(Text(0, 500))),
  delaySeconds,
}, { title: 'SimPaymentReturn', additionalProperties: false, examples: [{ reasonCode: 'AC04' }] })
export type SimPaymentReturn = Static<typeof SimPaymentReturn>

export const SimPaymentRecall = Type.Object({
  outcome: Words('SimulatedRecallOutcome', ['accepted', 'rejected']),
  reasonCode: Type.Optional(Words('RecallReason', RECALL_REASONS)),
  rejectionCode: Type.Optional(Words('RecallRejection', RECALL_REJECTIONS)),
  amount: Type.Optional(Nullable(PositiveMoney, { description: 'All of it unless said otherwise.' })),
}, { title: 'SimPaymentRecall', additionalProperties: false, examples: [{ outcome: 'rejected', rejectionCode: 'CUST' }] })
export type SimPaymentRecall = Static<typeof SimPaymentRecall>
