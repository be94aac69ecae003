/** Sandbox simulations of mandates and collections. */
import { SimulationResult } from '../../lib/contract/simulation.ts'
import { SimCollectionStatus, SimMandateStatus } from '../../lib/sandbox/debit-simulation-schema.ts'
import { route } from '../route/route.ts'

const SIMULATION = {
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  feature: 'payments.direct_debits',
  sandbox: 'simulation',
  idempotency: 'optional',
  limits: ['simulate'],
  tag: 'simulations',
  method: 'post',
  success: {
    status: 202,
    description: 'The sandbox bank reports the status within seconds.',
    schema: SimulationResult,
  },
  problems: ['not-found', 'simulation-not-possible'],
} as const

export const simulateCollectionStatus = route({
  ...SIMULATION,
  path: '/simulations/direct-debits/collections/{collectionId}/status',
  operationId: 'simulateCollectionStatus',
  summary: 'Simulate the outcome of a collection',
  description: 'Replaces the planned outcome. A pending collection is submitted first. Only on the sandbox bank.',
  body: SimCollectionStatus,
  handle: async ({ caller, params, command }, { debitOrders }) =>
    await debitOrders.simulateCollection(caller, params.collectionId, command),
})

export const simulateMandateStatus = route({
  ...SIMULATION,
  path: '/simulations/mandates/{mandateId}/status',
  operationId: 'simulateMandateStatus',
  summary: 'Simulate the status of a mandate',
  description: 'Replaces the planned status. A pending mandate is lodged first. Only on the sandbox bank.',
  body: SimMandateStatus,
  handle: async ({ caller, params, command }, { debitOrders }) =>
    await debitOrders.simulateMandate(caller, params.mandateId, command),
})
