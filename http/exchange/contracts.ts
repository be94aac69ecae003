/** Forwards and held rates: contracts that are drawn down. Both are exchanges too, and exchange lists include them. */
import { page, resource } from '../route/answer.ts'
import { route } from '../route/route.ts'
import {
  DrawdownCreate,
  ForwardContractCreate,
  ForwardDeposit,
  HeldRateCreate,
} from '../../lib/exchange/contract-schema.ts'
import { Exchange, exchangeList } from '../../lib/exchange/exchange-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'

const reads = {
  callers: 'key',
  scope: 'exchanges:read',
  tenant: 'customer',
  idempotency: 'none',
  tag: 'payments',
  problems: [],
} as const
const writes = {
  callers: 'key',
  scope: 'exchanges:write',
  tenant: 'customer',
  idempotency: 'required',
  tag: 'payments',
  limits: ['money'],
} as const
const forwards = { feature: 'exchange.forwards' } as const
const heldRates = { feature: 'exchange.held_rates' } as const
const Contracts = PageOf('ExchangePage', Exchange)
const DRAWN = {
  status: 201,
  description: 'The created drawdown.',
  schema: Exchange,
  etag: true,
  location: true,
} as const
const DRAWING_PROBLEMS = ['insufficient-funds', 'invalid-transition', 'duplicate-external-id'] as const
const OPENING_PROBLEMS = [
  'quote-expired',
  'invalid-transition',
  'duplicate-external-id',
  'limit-exceeded',
  'provider-error',
] as const

// ── Forwards
// ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export const listForwardContracts = route({
  ...reads,
  ...forwards,
  method: 'get',
  path: '/forward-contracts',
  operationId: 'listForwardContracts',
  summary: 'List forward contracts',
  list: exchangeList,
  success: { status: 200, description: 'A page of forwards.', schema: Contracts, etag: true },
  handle: async ({ list }, { contracts }) => page(list, await contracts.list(list, 'forward')),
})

export const createForwardContract = route({
  ...writes,
  ...forwards,
  method: 'post',
  path: '/forward-contracts',
  operationId: 'createForwardContract',
  money: 'move',
  summary: 'Create a forward contract',
  description:
    'Takes a quote of the kind `forward`. A forward that needs a deposit waits for it, and is cancelled when ' +
    'the deposit is not paid within a day.',
  stepUp: { action: 'exchange.above_threshold' },
  body: ForwardContractCreate,
  success: { status: 201, description: 'The created forward.', schema: Exchange, etag: true, location: true },
  problems: ['insufficient-funds', ...OPENING_PROBLEMS],
  handle: ({ command }, { contracts }) => contracts.openForward(command),
})

export const getForwardContract = route({
  ...reads,
  ...forwards,
  method: 'get',
  path: '/forward-contracts/{exchangeId}',
  operationId: 'getForwardContract',
  summary: 'Read a forward contract',
  success: { status: 200, description: 'The forward.', schema: Exchange, etag: true },
  handle: async ({ tenant, params }, { contracts }) =>
    resource(await contracts.get(tenant, params.exchangeId, 'forward')),
})

export const payForwardDeposit = route({
  ...writes,
  ...forwards,
  method: 'post',
  path: '/forward-contracts/{exchangeId}/deposit',
  operationId: 'payForwardDeposit',
  money: 'move',
  summary: 'Pay the deposit of a forward',
  description: 'Pays the first deposit or a margin call, in full or in part.',
  body: ForwardDeposit,
  exists: async (tenant, params, { contracts }) => (await contracts.get(tenant, params.exchangeId, 'forward')) !== null,
  success: { status: 200, description: 'The forward with its paid deposit.', schema: Exchange },
  problems: ['insufficient-funds', 'invalid-transition'],
  handle: ({ params, command }, { contracts }) => contracts.payDeposit(command, params.exchangeId),
})

export const listForwardDrawdowns = route({
  ...reads,
  ...forwards,
  method: 'get',
  path: '/forward-contracts/{exchangeId}/drawdowns',
  operationId: 'listForwardDrawdowns',
  summary: 'List the drawdowns of a forward',
  list: exchangeList,
  success: { status: 200, description: 'A page of drawdowns.', schema: Contracts, etag: true },
  handle: async ({ list, tenant, params }, { contracts }) =>
    page(list, await contracts.drawdowns(list, tenant, params.exchangeId, 'forward')),
})

export const createForwardDrawdown = route({
  ...writes,
  ...forwards,
  method: 'post',
  path: '/forward-contracts/{exchangeId}/drawdowns',
  operationId: 'createForwardDrawdown',
  money: 'move',
  summary: 'Create a drawdown from a forward',
  description:
    'Takes an amount of either currency, at the rate of the contract. The last drawdown takes exactly the ' +
    'remaining amount, and the deposit pays its part.',
  body: DrawdownCreate,
  exists: async (tenant, params, { contracts }) => (await contracts.get(tenant, params.exchangeId, 'forward')) !== null,
  success: DRAWN,
  problems: DRAWING_PROBLEMS,
  handle: ({ params, command }, { contracts }) => contracts.draw(command, params.exchangeId, 'forward'),
})

// ── Held rates
// ────────────────────────────────────────────────────────────────────────────────────────────────────────

export const listHeldRates = route({
  ...reads,
  ...heldRates,
  method: 'get',
  path: '/held-rates',
  operationId: 'listHeldRates',
  summary: 'List held rates',
  list: exchangeList,
  success: { status: 200, description: 'A page of held rates.', schema: Contracts, etag: true },
  handle: async ({ list }, { contracts }) => page(list, await contracts.list(list, 'held_rate')),
})

export const createHeldRate = route({
  ...writes,
  ...heldRates,
  method: 'post',
  path: '/held-rates',
  operationId: 'createHeldRate',
  money: 'move',
  summary: 'Hold a rate',
  description:
    'Takes a quote of the kind `held_rate`. Drawdowns are optional; the amount that is not drawn by ' +
    '`heldUntil` expires.',
  body: HeldRateCreate,
  success: { status: 201, description: 'The created held rate.', schema: Exchange, etag: true, location: true },
  problems: OPENING_PROBLEMS,
  handle: ({ command }, { contracts }) => contracts.holdRate(command),
})

export const getHeldRate = route({
  ...reads,
  ...heldRates,
  method: 'get',
  path: '/held-rates/{exchangeId}',
  operationId: 'getHeldRate',
  summary: 'Read a held rate',
  success: { status: 200, description: 'The held rate.', schema: Exchange, etag: true },
  handle: async ({ tenant, params }, { contracts }) =>
    resource(await contracts.get(tenant, params.exchangeId, 'held_rate')),
})

export const listHeldRateDrawdowns = route({
  ...reads,
  ...heldRates,
  method: 'get',
  path: '/held-rates/{exchangeId}/drawdowns',
  operationId: 'listHeldRateDrawdowns',
  summary: 'List the drawdowns of a held rate',
  list: exchangeList,
  success: { status: 200, description: 'A page of drawdowns.', schema: Contracts, etag: true },
  handle: async ({ list, tenant, params }, { contracts }) =>
    page(list, await contracts.drawdowns(list, tenant, params.exchangeId, 'held_rate')),
})

export const createHeldRateDrawdown = route({
  ...writes,
  ...heldRates,
  method: 'post',
  path: '/held-rates/{exchangeId}/drawdowns',
  operationId: 'createHeldRateDrawdown',
  money: 'move',
  summary: 'Create a drawdown from a held rate',
  description:
    'Takes an amount of either currency, at the held rate. The last drawdown takes exactly the remaining amount.',
  body: DrawdownCreate,
  exists: async (tenant, params, { contracts }) =>
    (await contracts.get(tenant, params.exchangeId, 'held_rate')) !== null,
  success: DRAWN,
  problems: DRAWING_PROBLEMS,
  handle: ({ params, command }, { contracts }) => contracts.draw(command, params.exchangeId, 'held_rate'),
})

export const cancelHeldRate = route({
  ...writes,
  ...heldRates,
  method: 'post',
  path: '/held-rates/{exchangeId}/cancel',
  operationId: 'cancelHeldRate',
  summary: 'Cancel a held rate',
  description: 'A held rate can be cancelled before its first drawdown, or while it waits for approval.',
  idempotency: 'optional',
  success: { status: 200, description: 'The cancelled held rate.', schema: Exchange },
  problems: ['not-cancellable'],
  handle: ({ params, command }, { contracts }) => contracts.cancelHeldRate(command, params.exchangeId),
})
