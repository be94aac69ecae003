/** The answers of simulations. */
import Type, { type Static } from 'typebox'
import { Nullable, Uuid, Words } from './primitives.ts'

const KINDS = [
  'card_transaction',
  'collection_status',
  'exchange_status',
  'fx_rate',
  'incoming_debit',
  'incoming_payment',
  'incoming_recall',
  'kyc',
  'mandate_status',
  'payment_recall',
  'payment_return',
  'payment_status',
  'scheduled_run',
  'statement',
  'webhook_event',
] as const
const PROVIDERS = ['sandbox', 'partner', 'kyc', 'platform'] as const

export const SimulationResult = Type.Object(
  {
    simulationId: Uuid,
    kind: Words('SimulationKind', KINDS),
    status: Words(
      'SimulationStatus',
      ['queued', 'submitted', 'applied'],
      '`queued`: the message is processed like a message of a real bank, within seconds.',
    ),
    provider: Words('SimulationProvider', PROVIDERS),
    providerEventIds: Type.Array(Uuid),
    providerReference: Nullable(Type.String()),
    details: Type.Object(
      {},
      { additionalProperties: true, description: 'Facts that depend on the kind of simulation.' },
    ),
  },
  { title: 'SimulationResult' },
)
export type SimulationResult = Static<typeof SimulationResult>

export const SandboxSimulation = Type.Object(
  {
    simulationId: Uuid,
    status: Words('SandboxSimulationStatus', ['queued']),
    objectId: Nullable(Uuid, { description: 'The id of the object that the simulation changes or creates.' }),
  },
  { title: 'SandboxSimulation' },
)
export type SandboxSimulation = Static<typeof SandboxSimulation>

/** The form of a simulation's answer: two operations run the same simulation and answer in different forms. */
export type SimulationForm = 'result' | 'receipt'
export type SimulationIn<Form extends SimulationForm> = Form extends 'receipt' ? SandboxSimulation : SimulationResult

/** Shows a simulation in the form of an operation. `objectId` is the object that it is about, or will become. */
export function simulationIn<Form extends SimulationForm>(
  form: Form,
  result: SimulationResult,
  objectId: string | null,
): SimulationIn<Form> {
  const receipt: SandboxSimulation = { simulationId: result.simulationId, status: 'queued', objectId }
  return (form === 'receipt' ? receipt : result) as SimulationIn<Form>
}

export const SimulationCatalogue = Type.Object(
  {
    environment: Type.String(),
    connection: Nullable(
      Type.Object({
        id: Uuid,
        provider: Type.String(),
        environment: Words('ProviderEnvironment', ['sandbox', 'production']),
      }),
    ),
    data: Type.Array(
      Type.Object({
        kind: Words('SimulationKind', KINDS),
        method: Type.Literal('POST'),
        path: Type.String(),
        summary: Type.String(),
        providers: Type.Array(Words('SimulationProvider', PROVIDERS)),
        available: Type.Boolean({ description: 'Whether this version of the service has the operation.' }),
        rules: Type.Array(Type.String()),
      }),
    ),
    rules: Type.Array(Type.Object({ topic: Type.String(), rule: Type.String() }), {
      description: 'The automatic rules of the sandbox.',
    }),
  },
  { title: 'SimulationCatalogue' },
)
export type SimulationCatalogue = Static<typeof SimulationCatalogue>
