/** The sandbox's simulation of a card that is used. */
import { route } from '../route/route.ts'
import { SimCard } from '../../lib/cards/card-schema.ts'
import { SimulationResult } from '../../lib/contract/simulation.ts'

export const simulateCardTransaction = route({
  method: 'post',
  path: '/simulations/cards/{cardId}/transactions',
  operationId: 'simulateCardTransaction',
  tag: 'simulations',
  summary: 'Let a card be used',
  description:
    'The network tells the message at once; `details` has the decision, the reference (`ref`) by which later phases ' +
    'name the transaction as `relatedRef`, and the id of the card transaction. An amount in another currency than the ' +
    'card’s is converted at the sandbox’s rate.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  feature: 'cards',
  sandbox: 'simulation',
  idempotency: 'optional',
  limits: ['simulate'],
  body: SimCard,
  success: { status: 202, description: 'The message was decided.', schema: SimulationResult },
  problems: ['not-found', 'simulation-not-possible'],
  handle: ({ caller, params, command }, { cards }) => cards.simulate(caller, params.cardId, command),
})
