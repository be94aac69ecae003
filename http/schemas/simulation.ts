/** What simulations answer. */
import Type from 'typebox'
import { Nullable, Uuid, Words } from './primitives.ts'

const KINDS = [
  'card_transaction', 'collection_status', 'exchange_status', 'fx_rate', 'incoming_debit', 'incoming_payment', 'incoming_recall', 'kyc', 'payment_recall',
  'payment_return', 'payment_status', 'scheduled_run', 'statement', 'webhook_event',
] as const

export const SimulationResult = Type.Object({
  simulationId: Uuid,
  kind: Words('SimulationKind', KINDS),
  status: Words('SimulationStatus', ['queued', 'submitted', 'applied'], '`queued`: it takes its ordinary way and arrives within seconds.'),
  provider: Words('SimulationProvider', ['sandbox', 'partner', 'kyc', 'platform']),
  providerEventIds: Type.Array(Uuid),
  providerReference: Nullable(Type.String()),
  details: Type.Object({}, { additionalProperties: true, description: 'Depends on the kind.' }),
}, { title: 'SimulationResult' })
