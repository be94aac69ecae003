/** Sandbox simulations of incoming payments and of recalls. */
import { route } from '../route/route.ts'
import {
  SandboxIncomingPayment,
  SimIncomingPayment,
  SimIncomingRecall,
} from '../../lib/incoming-payments/incoming-payment-schema.ts'
import { SandboxSimulation, SimulationResult } from '../../lib/contract/simulation.ts'

export const simulateIncomingPayment = route({
  method: 'post',
  path: '/simulations/incoming-payments',
  operationId: 'simulateIncomingPayment',
  tag: 'simulations',
  summary: 'Simulate an incoming payment',
  description:
    'The sandbox bank reports the credit within a second. `details.incomingPaymentRef` is the id of the ' +
    'incoming payment.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  sandbox: 'simulation',
  idempotency: 'optional',
  limits: ['simulate'],
  body: SimIncomingPayment,
  success: {
    status: 202,
    description: 'The sandbox bank reports the credit within a second.',
    schema: SimulationResult,
  },
  problems: ['simulation-not-possible', 'limit-exceeded'],
  handle: async ({ caller, body, command }, { incomingPayments }) =>
    await incomingPayments.simulate(caller, body, command.idempotency, 'result'),
})

export const simulateSandboxIncomingPayment = route({
  method: 'post',
  path: '/sandbox/incoming-payments',
  operationId: 'simulateSandboxIncomingPayment',
  tag: 'public-api',
  summary: 'Simulate an incoming payment',
  description: 'Like `simulateIncomingPayment`, for API keys. `objectId` is the id of the incoming payment.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  sandbox: 'only',
  idempotency: 'optional',
  limits: ['simulate'],
  body: SandboxIncomingPayment,
  success: {
    status: 202,
    description: 'The sandbox bank reports the credit within a second.',
    schema: SandboxSimulation,
  },
  problems: ['simulation-not-possible', 'limit-exceeded'],
  handle: async ({ caller, body, command }, { incomingPayments }) =>
    await incomingPayments.simulate(caller, body, command.idempotency, 'receipt'),
})

export const simulateIncomingRecall = route({
  method: 'post',
  path: '/simulations/incoming-payments/{incomingPaymentId}/recall',
  operationId: 'simulateIncomingRecall',
  tag: 'simulations',
  summary: 'Simulate a recall of an incoming payment',
  description:
    "Opens a case in the operator's queue; `details.caseId` is its id. While the case is open, the amount is " +
    'held when the balance covers it.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  sandbox: 'simulation',
  idempotency: 'optional',
  limits: ['simulate'],
  body: SimIncomingRecall,
  bodyOptional: true,
  exists: async (tenant, { incomingPaymentId }, { incomingPayments }) =>
    (await incomingPayments.getIncomingPayment(tenant, incomingPaymentId)) !== null,
  success: { status: 202, description: 'The case was opened.', schema: SimulationResult },
  problems: ['not-found', 'simulation-not-possible'],
  handle: async ({ caller, params, body, command }, { incomingPayments }) =>
    await incomingPayments.simulateRecall(caller, params.incomingPaymentId, body, command.idempotency),
})
