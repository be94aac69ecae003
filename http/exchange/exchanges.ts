/** Quotes, exchanges, and the sandbox simulations of both. */
import Type from 'typebox'
import { json, page, resource } from '../route/answer.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { route } from '../route/route.ts'
import {
  Exchange,
  ExchangeCreate,
  exchangeList,
  IndicativeRates,
  Quote,
  QuoteCreate,
  SimExchangeStatus,
  SimFxRate,
} from '../../lib/exchange/exchange-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'
import { SimulationResult } from '../../lib/contract/simulation.ts'

const reads = {
  callers: 'key',
  scope: 'exchanges:read',
  tenant: 'customer',
  idempotency: 'none',
  tag: 'payments',
} as const
const quoting = {
  callers: 'key',
  scope: 'exchanges:write',
  tenant: 'customer',
  idempotency: 'optional',
  tag: 'payments',
  limits: ['quotes'],
} as const
const simulating = {
  callers: 'key',
  scope: 'exchanges:write',
  tenant: 'customer',
  idempotency: 'optional',
  tag: 'simulations',
  sandbox: 'simulation',
  limits: ['simulate'],
} as const
const QUOTED = { status: 201, description: 'The quote.', schema: Quote, etag: true, location: true } as const

export const createQuote = route({
  ...quoting,
  method: 'post',
  path: '/exchanges/quotes',
  operationId: 'createQuote',
  money: 'move',
  summary: 'Create a firm quote',
  description:
    'A quote is valid until `expiresAt` and can be used once. One side is fixed; the other side follows from ' +
    '`rate`, rounded half to even.',
  body: QuoteCreate,
  success: QUOTED,
  problems: ['feature-disabled', 'limit-exceeded', 'provider-error'],
  handle: ({ command }, { exchanges }) => exchanges.createQuote(command),
})

export const getQuote = route({
  ...reads,
  method: 'get',
  path: '/exchanges/quotes/{quoteId}',
  operationId: 'getQuote',
  summary: 'Read a quote',
  success: { status: 200, description: 'The quote.', schema: Quote },
  problems: ['not-found'],
  async handle({ tenant, params }, { exchanges }) {
    const quote = await exchanges.getQuote(tenant, params.quoteId)
    return quote === null ? refuseNotFound() : json(200, quote)
  },
})

export const refreshQuote = route({
  ...quoting,
  method: 'post',
  path: '/exchanges/quotes/{quoteId}/refresh',
  operationId: 'refreshQuote',
  money: 'move',
  summary: 'Renew a quote on the same terms',
  description: 'The old quote stays valid until its own `expiresAt`.',
  success: QUOTED,
  problems: ['not-found', 'feature-disabled', 'invalid-transition', 'limit-exceeded', 'provider-error'],
  handle: ({ params, command }, { exchanges }) => exchanges.refreshQuote(command, params.quoteId),
})

export const getIndicativeRates = route({
  ...reads,
  method: 'get',
  path: '/exchanges/rates',
  operationId: 'getIndicativeRates',
  summary: 'Read indicative rates',
  description:
    'Without `buyCurrency` the answer has a rate for every enabled currency. An exchange needs a firm quote; ' +
    'it cannot use an indicative rate.',
  limits: ['quotes'],
  query: Type.Object({
    sellCurrency: Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217 code.' }),
    buyCurrency: Type.Optional(
      Type.String({ pattern: '^[A-Z]{3}(,[A-Z]{3}){0,49}$', description: 'Separated by commas.' }),
    ),
  }),
  success: { status: 200, description: 'The rates.', schema: IndicativeRates },
  problems: ['feature-disabled', 'provider-error'],
  handle: async ({ tenant, query }, { exchanges }) =>
    json(200, await exchanges.rates(tenant, query.sellCurrency, query.buyCurrency?.split(',') ?? null)),
})

export const listExchanges = route({
  ...reads,
  method: 'get',
  path: '/exchanges',
  operationId: 'listExchanges',
  summary: 'List exchanges',
  description: 'Lists exchanges of every kind. `q` searches order numbers and references.',
  list: exchangeList,
  success: { status: 200, description: 'A page of exchanges.', schema: PageOf('ExchangePage', Exchange), etag: true },
  problems: [],
  handle: async ({ list }, { exchanges }) => page(list, await exchanges.listExchanges(list)),
})

export const createExchange = route({
  callers: 'key',
  scope: 'exchanges:write',
  tenant: 'customer',
  idempotency: 'required',
  tag: 'payments',
  limits: ['money'],
  method: 'post',
  path: '/exchanges',
  operationId: 'createExchange',
  money: 'move',
  summary: 'Create an exchange from a quote',
  description:
    'Takes a quote of any kind. A spot exchange debits the sold amount at once and is `processing` until the ' +
    'bank has settled it.',
  body: ExchangeCreate,
  success: {
    status: 201,
    description: 'The exchange as it was created.',
    schema: Exchange,
    etag: true,
    location: true,
  },
  problems: [
    'feature-disabled',
    'quote-expired',
    'invalid-transition',
    'insufficient-funds',
    'duplicate-external-id',
    'limit-reached',
    'limit-exceeded',
    'provider-error',
  ],
  handle: ({ command }, { exchanges }) => exchanges.createExchange(command),
})

export const getExchange = route({
  ...reads,
  method: 'get',
  path: '/exchanges/{exchangeId}',
  operationId: 'getExchange',
  summary: 'Read an exchange',
  success: { status: 200, description: 'The exchange.', schema: Exchange, etag: true },
  problems: [],
  handle: async ({ tenant, params }, { exchanges }) => resource(await exchanges.getExchange(tenant, params.exchangeId)),
})

export const simulateExchangeStatus = route({
  ...simulating,
  method: 'post',
  path: '/simulations/exchanges/{exchangeId}/status',
  operationId: 'simulateExchangeStatus',
  summary: 'Simulate the outcome of an exchange',
  description: 'Replaces the planned outcome. Only for an exchange that the sandbox bank has.',
  body: SimExchangeStatus,
  exists: async (tenant, { exchangeId }, { exchanges }) => (await exchanges.getExchange(tenant, exchangeId)) !== null,
  success: {
    status: 202,
    description: 'The sandbox bank reports the outcome within seconds.',
    schema: SimulationResult,
  },
  problems: ['not-found', 'simulation-not-possible'],
  handle: ({ params, command }, { exchanges }) => exchanges.simulateStatus(command, params.exchangeId),
})

export const simulateFxRateMove = route({
  ...simulating,
  method: 'post',
  path: '/simulations/fx-rates',
  operationId: 'simulateFxRateMove',
  summary: 'Simulate a change of a rate',
  description:
    'Applies to every later quote of the currency pair for all customers of the connection; the inverse pair ' +
    'moves in the opposite direction.',
  body: SimFxRate,
  success: { status: 202, description: 'The rate after the change.', schema: SimulationResult },
  problems: ['provider-error'],
  handle: ({ command }, { exchanges }) => exchanges.simulateRate(command),
})
