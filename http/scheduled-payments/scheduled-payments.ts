/** Scheduled payments. */
import { page, resource } from '../route/answer.ts'
import { route, type CurrentContext } from '../route/route.ts'
import { PageOf } from '../../lib/contract/page.ts'
import {
  occurrenceList,
  ScheduledPayment,
  ScheduledPaymentCreate,
  scheduledPaymentList,
  ScheduledPaymentOccurrencePage,
  ScheduledPaymentUpdate,
} from '../../lib/scheduled-payments/scheduled-payment-schema.ts'
import { SimulationResult } from '../../lib/contract/simulation.ts'
import type { ReadServices } from '../route/services.ts'

const FEATURE = 'payments.scheduled'
const PATH = '/scheduled-payments/{scheduledPaymentId}'

async function current({ tenant, params }: CurrentContext<typeof PATH>, { scheduledPayments }: ReadServices) {
  return tenant === null ? null : await scheduledPayments.get(tenant, params.scheduledPaymentId)
}

export const listScheduledPayments = route({
  method: 'get',
  path: '/scheduled-payments',
  operationId: 'listScheduledPayments',
  tag: 'payments',
  summary: 'List scheduled payments',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'none',
  list: scheduledPaymentList,
  success: {
    status: 200,
    description: 'A page of scheduled payments.',
    schema: PageOf('ScheduledPaymentPage', ScheduledPayment),
    etag: true,
  },
  problems: [],
  handle: async ({ list }, { scheduledPayments }) => page(list, await scheduledPayments.list(list)),
})

export const createScheduledPayment = route({
  method: 'post',
  path: '/scheduled-payments',
  operationId: 'createScheduledPayment',
  money: 'pay',
  tag: 'payments',
  summary: 'Schedule payments',
  description:
    'From the start date on, at the given frequency, the schedule creates payments with the same checks, ' +
    'approvals and limits as a single payment. A payment is created on its day at 00:05 in the time zone of its ' +
    'rail. Three failed occurrences in a row stop the schedule.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'required',
  stepUp: { action: 'payment.above_threshold', amount: ({ body }) => body.amount },
  limits: ['money'],
  body: ScheduledPaymentCreate,
  success: {
    status: 201,
    description: 'The schedule as it was created.',
    schema: ScheduledPayment,
    etag: true,
    location: true,
  },
  problems: ['duplicate-external-id', 'limit-reached', 'limit-exceeded', 'recipient-not-approved', 'rail-unavailable'],
  handle: ({ caller, command }, { scheduledPayments }) => scheduledPayments.create(caller, command),
})

export const getScheduledPayment = route({
  method: 'get',
  path: PATH,
  operationId: 'getScheduledPayment',
  tag: 'payments',
  summary: 'Read a scheduled payment',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'none',
  success: { status: 200, description: 'The schedule.', schema: ScheduledPayment, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { scheduledPayments }) =>
    resource(await scheduledPayments.get(tenant, params.scheduledPaymentId)),
})

export const updateScheduledPayment = route({
  method: 'patch',
  path: PATH,
  operationId: 'updateScheduledPayment',
  tag: 'payments',
  summary: 'Change a scheduled payment',
  description:
    'The change applies from the next occurrence that has no payment yet. A change that leaves no occurrence ' +
    'completes the schedule.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'none',
  ifMatch: true,
  current,
  body: ScheduledPaymentUpdate,
  success: { status: 200, description: 'The schedule as it is now.', schema: ScheduledPayment, etag: true },
  problems: ['invalid-transition', 'limit-exceeded', 'rail-unavailable'],
  handle: async ({ caller, params, body, expectedVersion }, { scheduledPayments }) =>
    resource(await scheduledPayments.update(caller, params.scheduledPaymentId, body, expectedVersion)),
})

export const pauseScheduledPayment = route({
  method: 'post',
  path: `${PATH}/pause`,
  operationId: 'pauseScheduledPayment',
  tag: 'payments',
  summary: 'Pause a scheduled payment',
  description: 'Occurrences that are due before the schedule is resumed are skipped; they are not made up for.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'none',
  success: { status: 200, description: 'The paused schedule.', schema: ScheduledPayment, etag: true },
  problems: ['not-found', 'invalid-transition'],
  handle: async ({ caller, params }, { scheduledPayments }) =>
    resource(await scheduledPayments.pause(caller, params.scheduledPaymentId)),
})

export const resumeScheduledPayment = route({
  method: 'post',
  path: `${PATH}/resume`,
  operationId: 'resumeScheduledPayment',
  money: 'pay',
  tag: 'payments',
  summary: 'Resume a scheduled payment',
  description:
    'The schedule continues with the first occurrence that is not yet due; a schedule without such an ' +
    'occurrence is completed.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'none',
  success: { status: 200, description: 'The resumed schedule.', schema: ScheduledPayment, etag: true },
  problems: ['not-found', 'invalid-transition', 'recipient-not-approved'],
  handle: async ({ caller, params }, { scheduledPayments }) =>
    resource(await scheduledPayments.resume(caller, params.scheduledPaymentId)),
})

export const cancelScheduledPayment = route({
  method: 'post',
  path: `${PATH}/cancel`,
  operationId: 'cancelScheduledPayment',
  tag: 'payments',
  summary: 'Cancel a scheduled payment',
  description: 'Payments that the schedule has already made stay.',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'optional',
  success: { status: 200, description: 'The cancelled schedule.', schema: ScheduledPayment },
  problems: ['not-found', 'invalid-transition'],
  handle: ({ caller, params, command }, { scheduledPayments }) =>
    scheduledPayments.cancel(caller, params.scheduledPaymentId, command.idempotency),
})

export const listScheduledPaymentOccurrences = route({
  method: 'get',
  path: `${PATH}/occurrences`,
  operationId: 'listScheduledPaymentOccurrences',
  tag: 'payments',
  summary: 'Read the past and next occurrences of a scheduled payment',
  callers: 'key',
  scope: 'payments:read',
  tenant: 'customer',
  feature: FEATURE,
  idempotency: 'none',
  list: occurrenceList,
  success: {
    status: 200,
    description: 'A page of past occurrences, and the next dates.',
    schema: ScheduledPaymentOccurrencePage,
    etag: true,
  },
  problems: ['not-found'],
  handle: async ({ list, params }, { scheduledPayments }) => {
    const found = await scheduledPayments.occurrences({ ...list, scheduledPaymentId: params.scheduledPaymentId })
    return page(list, found?.page ?? null, { upcoming: found?.upcoming ?? [] })
  },
})

export const simulateScheduledRun = route({
  method: 'post',
  path: '/simulations/scheduled-payments/{scheduledPaymentId}/run-now',
  operationId: 'simulateScheduledRun',
  tag: 'simulations',
  summary: 'Simulate the due date of the next occurrence',
  callers: 'key',
  scope: 'payments:write',
  tenant: 'customer',
  sandbox: 'simulation',
  feature: FEATURE,
  idempotency: 'optional',
  limits: ['simulate'],
  success: { status: 202, description: 'The payment is created within seconds.', schema: SimulationResult },
  problems: ['not-found', 'simulation-not-possible'],
  handle: ({ caller, params, command }, { scheduledPayments }) =>
    scheduledPayments.runNow(caller, params.scheduledPaymentId, command.idempotency),
})
