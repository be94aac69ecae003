/** Sandbox simulations of incoming payments, of direct debits and of recalls. */
import { route } from '../route/route.ts'
import {
  SandboxIncomingPayment,
  SimIncomingDebit,
  SimIncomingPayment,
  SimIncomingRecall,
} from '../../lib/incoming-payments/incoming-payment-schema.ts'
import { SandboxSimulation, SimulationResult } from '../../lib/contract/simulation.ts'

export const simulateIncomingPayment = route({
  method: 'post',
  path: '/simulations/incoming-payments',
  operationId: 'simulateIncomingPayment',
  tag: 'simulations',
  summary: 'Let money come in',
  description:
    'The sandbox bank reports it within a second. `details.incomingPaymentRef` is the id of the incoming payment that it becomes.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  sandbox: 'simulation',
  idempotency: 'optional',
  limits: ['simulate'],
  body: SimIncomingPayment,
  success: { status: 202, description: 'The bank is about to report it.', schema: SimulationResult },
  problems: ['simulation-not-possible', 'limit-exceeded'],
  handle: async ({ caller, body, command }, { incomingPayments }) =>
    await incomingPayments.simulate(caller, body, command.idempotency, 'result'),
})

export const simulateSandboxIncomingPayment = route({
  method: 'post',
  path: '/sandbox/incoming-payments',
  operationId: 'simulateSandboxIncomingPayment',
  tag: 'public-api',
  summary: 'Let money come in',
  description:
    'As `simulateIncomingPayment`, for integrations. `objectId` is the id of the incoming payment that it becomes.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  sandbox: 'only',
  idempotency: 'optional',
  limits: ['simulate'],
  body: SandboxIncomingPayment,
  success: { status: 202, description: 'The bank is about to report it.', schema: SandboxSimulation },
  problems: ['simulation-not-possible', 'limit-exceeded'],
  handle: async ({ caller, body, command }, { incomingPayments }) =>
    await incomingPayments.simulate(caller, body, command.idempotency, 'receipt'),
})

export const simulateIncomingDebit = route({
  method: 'post',
  path: '/simulations/incoming-debits',
  operationId: 'simulateIncomingDebit',
  tag: 'simulations',
  summary: 'Let somebody collect from a balance',
  description:
    'For sandboxes of banking partners. The sandbox bank collects for nobody, so on its connections this is not possible.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  sandbox: 'simulation',
  idempotency: 'optional',
  limits: ['simulate'],
  body: SimIncomingDebit,
  success: { status: 202, description: 'The partner is about to collect.', schema: SimulationResult },
  problems: ['simulation-not-possible'],
  handle: async ({ caller, body, command }, { incomingPayments }) =>
    await incomingPayments.simulateDebit(caller, body, command.idempotency),
})

export const simulateIncomingRecall = route({
  method: 'post',
  path: '/simulations/incoming-payments/{incomingPaymentId}/recall',
  operationId: 'simulateIncomingRecall',
  tag: 'simulations',
  summary: "Let the payer's bank ask for money back",
  description:
    "Opens a case in the operator's queue, `details.caseId`. While it is open, the money is set aside where the balance covers it.",
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
  success: { status: 202, description: "The operator's people have it.", schema: SimulationResult },
  problems: ['not-found', 'simulation-not-possible'],
  handle: async ({ caller, params, body, command }, { incomingPayments }) =>
    await incomingPayments.simulateRecall(caller, params.incomingPaymentId, body, command.idempotency),
})
