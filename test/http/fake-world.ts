/**
 * A world without a domain: views from memory, commands that answer at once. Enough to see everything the HTTP layer
 * does by itself, over a real socket.
 */
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createApp, type AppOptions } from '../../http/app.ts'
import { generateApiKey } from '../../lib/api-key.ts'
import type { ListQuery, ListResult } from '../../http/list.ts'
import { routes } from '../../http/routes/index.ts'
import type { Payment, PaymentCreate } from '../../http/schemas/payment.ts'
import type { TransferCreate } from '../../http/schemas/transfer.ts'
import type { Route } from '../../http/route.ts'
import { createHttpServer, type Patience } from '../../http/server.ts'
import type { World } from '../../http/world.ts'
import type { Command, CommandAnswer, IdempotencyRecord } from '../../lib/commands/command.ts'
import type { ApiKey } from '../../lib/commands/caller.ts'

export const CUSTOMER = '01980d6e-0000-7000-8000-00000000c001'
export const OPERATOR = '01980d6e-0000-7000-8000-00000000a001'
export const BALANCE = '01980d6e-0000-7000-8000-00000000b001'
export const RECIPIENT = '01980d6e-0000-7000-8000-00000000d001'
export const PAYMENT = '01980d6e-0000-7000-8000-00000000e001'

const ALL_SCOPES = ['balances:read', 'transactions:read', 'recipients:read', 'payments:read', 'payments:write']
const EPOCH_MS = Date.UTC(2026, 0, 2)

/** A payment's body that is valid. */
export const PAYMENT_BODY = {
  sourceBalanceId: BALANCE,
  recipientId: RECIPIENT,
  amount: { amountMinor: '12500', currency: 'EUR' },
  reference: 'Invoice 2026-0042',
}

/** Keys, records and everything that was asked of the fake. */
export interface FakeWorld extends World {
  nowMs: number
  readonly keys: Map<string, ApiKey>
  readonly records: Map<string, IdempotencyRecord>
  readonly payments: Command<PaymentCreate>[]
  readonly transfers: Command<TransferCreate>[]
  readonly lists: ListQuery<unknown>[]
  readonly logged: { readonly level: string; readonly fields: object }[]
  lookUps: number
  /** Rows of every list, newest first. */
  rows: { readonly id: string }[]
  failure: Error | null
  answer: CommandAnswer | null
  addKey(change?: Partial<ApiKey>): string
}

/** Nobody has ever signed in, and no other node changes a key. */
const NOBODY: World['identity'] = {
  findSession: async () => null,
  touchSession: async () => undefined,
  loginChallenge: async () => null,
  hasProof: async () => false,
  operatorOf: async () => null,
  noteKeyUse: async () => undefined,
  onKeyChange: () => undefined,
  listSessions: async () => ({ rows: [], keys: [], hasMore: false }),
  getUser: async () => null,
  listFactors: async () => [],
  listApiKeys: async () => ({ rows: [], keys: [], hasMore: false }),
  getApiKey: async () => null,
  listAuditEvents: async () => ({ rows: [], keys: [], hasMore: false }),
  capabilitiesOf: () => [],
}

/** Builds a fake world with no keys. */
export function fakeWorld(change: { readonly sandbox?: boolean } = {}): FakeWorld {
  let made = 0

  async function pageOf(query: ListQuery<unknown>): Promise<ListResult<never>> {
    world.lists.push(query)
    const { position, limit } = query
    let rows = world.rows
    if (position !== null) {
      const at = rows.findIndex((row) => row.id === position.keys[0])
      rows = position.direction === 'after' ? rows.slice(at + 1) : rows.slice(0, at).slice(-limit - 1)
    }
    const hasMore = rows.length > limit
    const shown = position?.direction === 'before' ? rows.slice(-limit) : rows.slice(0, limit)
    const result = { rows: shown as never[], keys: shown.map((row) => [row.id]), hasMore }
    return query.withTotal ? { ...result, total: world.rows.length } : result
  }

  function answerTo(command: Command<unknown>, resource: string): CommandAnswer {
    if (world.failure !== null) throw world.failure
    return world.answer ?? {
      status: 201,
      body: JSON.stringify({ id: PAYMENT, requestId: command.requestId }),
      contentType: 'application/json',
      etag: 'W/"1-0123456789ab"',
      location: `/v1/${resource}/${PAYMENT}`,
      replayed: false,
    }
  }

  const world: FakeWorld = {
    nowMs: EPOCH_MS,
    keys: new Map(),
    records: new Map(),
    payments: [],
    transfers: [],
    lists: [],
    logged: [],
    lookUps: 0,
    rows: [],
    failure: null,
    answer: null,
    problemBase: 'https://docs.example/problems',
    sandbox: change.sandbox ?? true,
    cursorKey: new Uint8Array(32).fill(7),
    ids: { next: () => `01980d6e-0000-7000-9000-${(++made).toString(16).padStart(12, '0')}` },
    clock: { now: () => world.nowMs },
    log: {
      info: (fields) => void world.logged.push({ level: 'info', fields }),
      warn: (fields) => void world.logged.push({ level: 'warn', fields }),
      error: (fields) => void world.logged.push({ level: 'error', fields }),
    },
    health: () => ({ status: 'ok', version: '0.1.0', commit: 'abc', time: new Date(world.nowMs).toISOString() }),
    readiness: async () => ({ status: 'ready', checks: [] }),
    identity: NOBODY,
    people: new Proxy({} as World['people'], { get: () => () => { throw new Error('Nobody is signed in here.') } }),
    bankLookups: { iban: () => { throw new Error('No bank is known here.') }, bank: () => { throw new Error('No bank is known here.') } },
    balanceCommands: new Proxy({} as World['balanceCommands'], { get: () => () => { throw new Error('Nobody opens balances here.') } }),
    bulkSubmissions: new Proxy({} as World['bulkSubmissions'], { get: () => () => { throw new Error('There are no files of payments here.') } }),
    bulkReports: new Proxy({} as World['bulkReports'], { get: () => () => { throw new Error('There are no files of payments here.') } }),
    bulkPayments: new Proxy({} as World['bulkPayments'], { get: () => () => { throw new Error('There are no files of payments here.') } }),
    bulkPaymentCommands: new Proxy({} as World['bulkPaymentCommands'], { get: () => () => { throw new Error('There are no files of payments here.') } }),
    recipients: new Proxy({} as World['recipients'], { get: () => () => { throw new Error('There are no recipients here.') } }),
    compliance: new Proxy({} as World['compliance'], { get: () => () => { throw new Error('Nothing is held here.') } }),
    complianceCommands: new Proxy({} as World['complianceCommands'], { get: () => () => { throw new Error('Nothing is held here.') } }),
    contracts: new Proxy({} as World['contracts'], { get: () => () => { throw new Error('There are no contracts here.') } }),
    contractCommands: new Proxy({} as World['contractCommands'], { get: () => () => { throw new Error('There are no contracts here.') } }),
    notices: new Proxy({} as World['notices'], { get: () => () => { throw new Error('Nobody is told anything here.') } }),
    noticeCommands: new Proxy({} as World['noticeCommands'], { get: () => () => { throw new Error('Nobody is told anything here.') } }),
    operators: new Proxy({} as World['operators'], { get: (_, name) => (name === 'hasFeature' ? async () => true : name === 'railLimits' ? async () => ({ limits: {}, version: 1 }) : () => { throw new Error('There are no operators here.') }) }),
    documents: new Proxy({} as World['documents'], { get: () => () => { throw new Error('There are no documents here.') } }),
    documentCommands: new Proxy({} as World['documentCommands'], { get: () => () => { throw new Error('There are no documents here.') } }),
    transactions: new Proxy({} as World['transactions'], { get: () => () => { throw new Error('There are no transactions here.') } }),
    transactionCommands: new Proxy({} as World['transactionCommands'], { get: () => () => { throw new Error('There are no transactions here.') } }),
    downloads: new Proxy({} as World['downloads'], { get: () => () => { throw new Error('There are no files here.') } }),
    confirmations: { ofTransaction: async () => null, ofPayment: async () => null, ofExchange: async () => null },
    scheduledPayments: new Proxy({} as World['scheduledPayments'], { get: () => () => { throw new Error('Nothing is scheduled here.') } }),
    scheduleCommands: new Proxy({} as World['scheduleCommands'], { get: () => () => { throw new Error('Nothing is scheduled here.') } }),
    pricing: new Proxy({} as World['pricing'], { get: () => () => { throw new Error('Nothing costs anything here.') } }),
    connectionCalendars: new Proxy({} as World['connectionCalendars'], { get: () => () => { throw new Error('No connection has days here.') } }),
    connectionCalendarCommands: new Proxy({} as World['connectionCalendarCommands'], { get: () => () => { throw new Error('No connection has days here.') } }),
    pricingCommands: new Proxy({} as World['pricingCommands'], { get: () => () => { throw new Error('Nothing costs anything here.') } }),
    paymentOutcomes: new Proxy({} as World['paymentOutcomes'], { get: () => () => { throw new Error('Nothing has become of anything here.') } }),
    exchanges: new Proxy({} as World['exchanges'], { get: () => () => { throw new Error('Nothing is exchanged here.') } }),
    exchangeCommands: new Proxy({} as World['exchangeCommands'], { get: () => () => { throw new Error('Nothing is exchanged here.') } }),
    paymentChanges: new Proxy({} as World['paymentChanges'], { get: () => () => { throw new Error('Nothing is changed here.') } }),
    paymentOutcomeCommands: new Proxy({} as World['paymentOutcomeCommands'], { get: () => () => { throw new Error('Nothing has become of anything here.') } }),
    operatorCommands: new Proxy({} as World['operatorCommands'], { get: () => () => { throw new Error('There are no operators here.') } }),
    exportCommands: new Proxy({} as World['exportCommands'], { get: () => () => { throw new Error('There are no exports here.') } }),
    jobs: new Proxy({} as World['jobs'], { get: () => () => { throw new Error('There are no jobs here.') } }),
    jobCommands: new Proxy({} as World['jobCommands'], { get: () => () => { throw new Error('There are no jobs here.') } }),
    statements: new Proxy({} as World['statements'], { get: () => () => { throw new Error('There are no statements here.') } }),
    statementCommands: new Proxy({} as World['statementCommands'], { get: () => () => { throw new Error('There are no statements here.') } }),
    fundsRequests: new Proxy({} as World['fundsRequests'], { get: () => () => { throw new Error('There are no funds requests here.') } }),
    fundsRequestCommands: new Proxy({} as World['fundsRequestCommands'], { get: () => () => { throw new Error('There are no funds requests here.') } }),
    customerLife: new Proxy({} as World['customerLife'], { get: () => () => { throw new Error('There are no customers here.') } }),
    customerLifeCommands: new Proxy({} as World['customerLifeCommands'], { get: () => () => { throw new Error('There are no customers here.') } }),
    members: new Proxy({} as World['members'], { get: () => () => { throw new Error('There are no members here.') } }),
    memberCommands: new Proxy({} as World['memberCommands'], { get: () => () => { throw new Error('There are no members here.') } }),
    settings: new Proxy({} as World['settings'], { get: () => () => { throw new Error('There are no settings here.') } }),
    settingsCommands: new Proxy({} as World['settingsCommands'], { get: () => () => { throw new Error('There are no settings here.') } }),
    approvals: new Proxy({} as World['approvals'], { get: () => () => { throw new Error('Nothing waits for approval here.') } }),
    approvalCommands: new Proxy({} as World['approvalCommands'], { get: () => () => { throw new Error('Nothing waits for approval here.') } }),
    treasury: new Proxy({} as World['treasury'], { get: () => () => { throw new Error('There are no books here.') } }),
    treasuryCommands: new Proxy({} as World['treasuryCommands'], { get: () => () => { throw new Error('There are no books here.') } }),
    webhooks: new Proxy({} as World['webhooks'], { get: () => () => { throw new Error('Nobody listens here.') } }),
    addMoney: () => { throw new Error('Nothing comes in here.') },
    incomingCommands: new Proxy({} as World['incomingCommands'], { get: () => () => { throw new Error('Nothing comes in here.') } }),
    webhookCommands: new Proxy({} as World['webhookCommands'], { get: () => () => { throw new Error('Nobody listens here.') } }),
    isWorkspace: () => false,
    limitSignIn: () => undefined,
    findApiKey: async (sha256) => {
      world.lookUps++
      return world.keys.get(sha256) ?? null
    },
    findIdempotencyRecord: async (id) => world.records.get(id) ?? null,
    queries: {
      listBalances: pageOf,
      getBalance: async () => null,
      getAccountDetails: async () => null,
      listJournal: pageOf,
      listHolds: async () => null,
      listRecipients: pageOf,
      getRecipient: async () => null,
      listRecipientReviews: pageOf,
      getRecipientReview: async () => null,
      listPayments: pageOf,
      getPayment: async (_tenant, id) => (id === PAYMENT ? { version: 3, view: { id, status: 'processing' } as Payment } : null),
      listTransfers: pageOf,
      getTransfer: async () => null,
      listIncomingPayments: pageOf,
      getIncomingPayment: async () => null,
      listSuspense: pageOf,
      getSuspenseItem: async () => null,
      apiKeyRequests: async () => null,
      apiUsage: async () => { throw new Error('The fake has no usage.') },
      integrationHome: async () => { throw new Error('The fake has no integrations.') },
    },
    commands: {
      createPayment: async (command) => {
        world.payments.push(command)
        return answerTo(command, 'payments')
      },
      cancelPayment: async (command) => answerTo(command, 'payments'),
      submitPayment: async (command) => answerTo(command, 'payments'),
      checkPayment: async () => { throw new Error('The fake checks no payments.') },
    },
    transferCommands: {
      createTransfer: async (command) => {
        world.transfers.push(command)
        return answerTo(command, 'transfers')
      },
    },
    addKey: (keyChange = {}) => {
      const environment = keyChange.environment ?? 'test'
      const { secret, sha256 } = generateApiKey(environment, randomBytes)
      world.keys.set(sha256, {
        id: `01980d6e-0000-7000-8000-${world.keys.size.toString(16).padStart(12, 'f')}`,
        name: 'test key',
        sha256,
        environment,
        status: 'active',
        level: 'customer',
        tenantId: CUSTOMER,
        scopes: ALL_SCOPES,
        ipAllowlist: [],
        expiresAtMs: null,
        lastUsedAtMs: null,
        ...keyChange,
      })
      return secret
    },
  }
  return world
}

/** An answer whose JSON tests may read without saying what it is. */
export type Reply = Omit<Response, 'json'> & { json(): Promise<any> }

/** `fetch` for tests. */
export const request = fetch as unknown as (url: string, init?: RequestInit) => Promise<Reply>

/** What a test has besides its world. */
export interface FakeOptions {
  readonly app?: AppOptions
  /** Operations that a test makes up. */
  readonly routes?: readonly Route[]
  readonly patience?: Patience
}

/** A service around a fake world, listening on a free port of the loopback interface. */
export async function startFake(world: FakeWorld, options: FakeOptions = {}) {
  const table = options.routes === undefined ? routes : [...routes, ...options.routes]
  const server = createHttpServer(createApp(table, world, options.app).callback(), world, options.patience)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  const key = world.addKey()
  const headers = { authorization: `Bearer ${key}`, 'x-tenant-id': CUSTOMER }

  return {
    origin,
    port,
    key,
    headers,
    /** A GET as the customer, with headers added or (by undefined) left out. */
    get: (path: string, change: Record<string, string | undefined> = {}) =>
      request(origin + path, { headers: defined({ ...headers, ...change }) }),
    /** A POST as the customer. A string body is sent as it is. */
    post: (path: string, body: unknown, change: Record<string, string | undefined> = {}) =>
      request(origin + path, {
        method: 'POST',
        headers: defined({ ...headers, 'content-type': 'application/json', 'idempotency-key': `k-${Math.random()}`, ...change }),
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      } as RequestInit),
    stop: () => new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    }),
  }
}

function defined(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
