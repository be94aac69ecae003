/** Sandbox simulations of payments that were sent to the bank, and the catalogue of all simulations. */
import { json } from '../route/answer.ts'
import { route } from '../route/route.ts'
import {
  SandboxPaymentStatus,
  SimPaymentRecall,
  SimPaymentReturn,
  SimPaymentStatus,
} from '../../lib/sandbox/payment-simulation-schema.ts'
import { SandboxSimulation, SimulationCatalogue, SimulationResult } from '../../lib/contract/simulation.ts'
import type { ReadServices } from '../route/services.ts'
import type { Tenant } from '../../lib/commands/caller.ts'

const SIMULATION = {
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  idempotency: 'optional',
  limits: ['simulate'],
} as const
const exists = async (tenant: Tenant, { paymentId }: { readonly paymentId: string }, { payments }: ReadServices) =>
  (await payments.getPayment(tenant, paymentId)) !== null
const queued = {
  status: 202,
  description: 'The sandbox bank reports the outcome within seconds.',
  schema: SimulationResult,
} as const

export const listSimulations = route({
  method: 'get',
  path: '/simulations',
  operationId: 'listSimulations',
  tag: 'simulations',
  summary: 'List simulations',
  description: "The catalogue also lists the sandbox's automatic rules: `rules`.",
  callers: 'key',
  scope: 'balances:read',
  tenant: 'customer',
  sandbox: 'simulation',
  idempotency: 'none',
  limits: ['simulate'],
  success: { status: 200, description: 'The catalogue.', schema: SimulationCatalogue },
  problems: [],
  handle: async ({ tenant }, { payments }) => json(200, await payments.simulations(tenant)),
})

export const simulatePaymentStatus = route({
  ...SIMULATION,
  method: 'post',
  path: '/simulations/payments/{paymentId}/status',
  operationId: 'simulatePaymentStatus',
  tag: 'simulations',
  summary: 'Simulate the outcome of a payment',
  description: 'Replaces the planned outcome. Only for a payment that the sandbox bank has.',
  sandbox: 'simulation',
  body: SimPaymentStatus,
  exists,
  success: queued,
  problems: ['not-found', 'simulation-not-possible'],
  handle: async ({ caller, params, command }, { payments }) =>
    await payments.simulateStatus(caller, params.paymentId, command, 'result'),
})

export const simulateSandboxPaymentStatus = route({
  ...SIMULATION,
  method: 'post',
  path: '/sandbox/payments/{paymentId}/status',
  operationId: 'simulateSandboxPaymentStatus',
  tag: 'public-api',
  summary: 'Simulate the outcome of a payment',
  description: 'Like `simulatePaymentStatus`, for API keys.',
  sandbox: 'only',
  body: SandboxPaymentStatus,
  exists,
  success: { ...queued, schema: SandboxSimulation },
  problems: ['not-found', 'simulation-not-possible'],
  handle: async ({ caller, params, command }, { payments }) =>
    await payments.simulateStatus(caller, params.paymentId, command, 'receipt'),
})

export const simulatePaymentReturn = route({
  ...SIMULATION,
  method: 'post',
  path: '/simulations/payments/{paymentId}/return',
  operationId: 'simulatePaymentReturn',
  tag: 'simulations',
  summary: 'Simulate the return of a payment',
  description: 'The return is in full or in part, and may come before or after the completion of the payment.',
  sandbox: 'simulation',
  body: SimPaymentReturn,
  bodyOptional: true,
  exists,
  success: queued,
  problems: ['not-found', 'simulation-not-possible'],
  handle: async ({ caller, params, command }, { payments }) =>
    await payments.simulateReturn(caller, params.paymentId, command),
})

export const simulatePaymentRecall = route({
  ...SIMULATION,
  method: 'post',
  path: '/simulations/payments/{paymentId}/recall',
  operationId: 'simulatePaymentRecall',
  tag: 'simulations',
  summary: 'Simulate the answer to a recall',
  description: 'The payment needs no open recall. `accepted`: the money comes back. `rejected`: no money moves.',
  sandbox: 'simulation',
  body: SimPaymentRecall,
  exists,
  success: queued,
  problems: ['not-found', 'simulation-not-possible'],
  handle: async ({ caller, params, command }, { payments }) =>
    await payments.simulateRecall(caller, params.paymentId, command),
})
