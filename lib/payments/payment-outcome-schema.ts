/** Schemas of payments after the hand-over: update log, recalls, and simulations in a sandbox. */
import Type, { type Static } from 'typebox'
import { RECALL_REASONS } from './recall.ts'
import { list } from '../contract/list.ts'
import { PaymentStatus } from './payment-schema.ts'
import { Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'

export const PaymentStatusUpdate = Type.Object(
  {
    id: Uuid,
    paymentId: Uuid,
    status: PaymentStatus,
    previousStatus: Nullable(PaymentStatus),
    message: Type.String(),
    actor: Words('UpdateActor', ['system', 'member', 'partner']),
    at: Timestamp,
  },
  { title: 'PaymentStatusUpdate' },
)
export type PaymentStatusUpdate = Static<typeof PaymentStatusUpdate>

export const paymentStatusUpdateList = list({ filters: {}, sorts: ['-at', 'at'] })

export const PaymentRecallRequest = Type.Object(
  {
    reasonCode: Words('RecallReason', RECALL_REASONS),
    note: Text(10, 500, { description: 'A note for the banks involved.' }),
  },
  {
    title: 'PaymentRecallRequest',
    additionalProperties: false,
    examples: [{ reasonCode: 'DUPL', note: 'The invoice was paid twice by mistake.' }],
  },
)
export type PaymentRecallRequest = Static<typeof PaymentRecallRequest>
