/**
 * A world without a domain: views from memory, commands that answer at once. Enough to see everything the HTTP layer
 * does by itself, over a real socket.
 */
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createApp, type AppOptions } from '../../../http/server/app.ts'
import { generateApiKey } from '../../../lib/identity/api-key.ts'
import type { RowQuery, ListResult } from '../../../lib/contract/list.ts'
import { routes } from '../../../http/server/routes.ts'
import type { PaymentCreate } from '../../../lib/payments/payment-schema.ts'
import type { TransferCreate } from '../../../lib/transfers/transfer-schema.ts'
import type { Route } from '../../../http/route/route.ts'
import { createHttpServer, type Patience } from '../../../http/server/server.ts'
import type { NounServices, Services } from '../../../http/route/services.ts'
import { showing } from '../../../lib/commands/answer.ts'
import type { Command, CommandAnswer, CommandBytes, IdempotencyRecord } from '../../../lib/commands/command.ts'
import type { ApiKey } from '../../../lib/commands/caller.ts'

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
export interface FakeWorld extends Services {
  nowMs: number
  readonly keys: Map<string, ApiKey>
  readonly records: Map<string, IdempotencyRecord>
  readonly createdPayments: Command<PaymentCreate>[]
  readonly createdTransfers: Command<TransferCreate>[]
  readonly lists: RowQuery<unknown, string>[]
  readonly logged: { readonly level: string; readonly fields: object }[]
  lookUps: number
  /** Rows of every list, newest first. */
  rows: { readonly id: string }[]
  failure: Error | null
  answer: CommandBytes | null
  addKey(change?: Partial<ApiKey>): string
}

/** Reads of identity where no session exists and no other node changes a key. */
const NO_SESSIONS: Partial<Services['identity']> = {
  findSession: async () => null,
  touchSession: async () => undefined,
  loginChallenge: async () => null,
  findChallenge: async () => null,
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

/** The nouns of which a test gives the members that it needs; any other member throws when it is called. */
function fakeServices(given: { readonly [Noun in keyof NounServices]?: Partial<NounServices[Noun]> }): NounServices {
  return new Proxy(given as NounServices, {
    get: (nouns, noun) =>
      new Proxy<object>((Reflect.get(nouns, noun) as object | undefined) ?? {}, {
        get: (members, member) =>
          (Reflect.get(members, member) as unknown) ??
          (() => {
            throw new Error(`The fake has no ${String(noun)}.${String(member)}.`)
          }),
      }),
  })
}

type PaymentView = NonNullable<Awaited<ReturnType<Services['payments']['getPayment']>>>['view']

/** Builds a fake world with no keys. */
export function fakeWorld(change: { readonly sandbox?: boolean } = {}): FakeWorld {
  let made = 0

  async function pageOf(query: RowQuery<unknown, string>): Promise<ListResult<never>> {
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

  function answerTo(command: Command<unknown>, resource: string): CommandAnswer<never, never> {
    if (world.failure !== null) throw world.failure
    return showing(
      world.answer ?? {
        status: 201,
        body: JSON.stringify({ id: PAYMENT, requestId: command.requestId }),
        contentType: 'application/json',
        etag: 'W/"1-0123456789ab"',
        location: `/v1/${resource}/${PAYMENT}`,
        replayed: false,
      },
    )
  }

  const own: Omit<FakeWorld, keyof NounServices> = {
    nowMs: EPOCH_MS,
    keys: new Map(),
    records: new Map(),
    createdPayments: [],
    createdTransfers: [],
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
    isWorkspace: () => false,
    limitSignIn: () => undefined,
    limitRendering: () => undefined,
    findApiKey: async (sha256) => {
      world.lookUps++
      return world.keys.get(sha256) ?? null
    },
    findIdempotencyRecord: async (id) => world.records.get(id) ?? null,
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
  const nouns = fakeServices({
    identity: NO_SESSIONS,
    customers: { moneyProblem: async () => null },
    operators: {
      hasFeature: async () => true,
      railLimits: async () => ({ limits: {}, version: 1 }),
      stepUpThreshold: async () => ({ amount: 0n, currency: 'EUR' }),
    },
    balances: {
      listBalances: pageOf,
      getBalance: async () => null,
      listJournal: pageOf,
      listHolds: async () => null,
    },
    recipients: {
      listRecipients: pageOf,
      getRecipient: async () => null,
      listRecipientReviews: pageOf,
      getRecipientReview: async () => null,
    },
    transfers: {
      listTransfers: pageOf,
      getTransfer: async () => null,
      createTransfer: async (command) => {
        world.createdTransfers.push(command)
        return answerTo(command, 'transfers')
      },
    },
    incomingPayments: {
      listIncomingPayments: pageOf,
      getIncomingPayment: async () => null,
      listSuspense: pageOf,
      getSuspenseItem: async () => null,
    },
    payments: {
      listPayments: pageOf,
      getPayment: async (_tenant, id) =>
        id === PAYMENT ? { version: 3, view: { id, status: 'processing' } as PaymentView } : null,
      createPayment: async (command) => {
        world.createdPayments.push(command)
        return answerTo(command, 'payments')
      },
      cancelPayment: async (command) => answerTo(command, 'payments'),
      submitPayment: async (command) => answerTo(command, 'payments'),
    },
  })
  const world = Object.setPrototypeOf(own, nouns) as FakeWorld
  return world
}

/** An answer whose JSON tests may read without saying what it is. */
export type Reply = Omit<Response, 'json'> & { json(): Promise<any> }

/**
 * `fetch` for tests. Reads the whole body, because a body that nothing reads keeps its connection until the garbage
 * collector finds it, and the file would leave it open.
 */
export async function request(url: string, init?: RequestInit): Promise<Reply> {
  const answer = await (fetch as unknown as (url: string, init?: RequestInit) => Promise<Response>)(url, init)
  const { status, statusText, headers } = answer
  const body = await answer.arrayBuffer()
  return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers }) as Reply
}

/** The options of a test beside its services. */
export interface FakeOptions {
  readonly app?: AppOptions
  /** Operations that a test makes up. */
  readonly routes?: readonly Route[]
  readonly patience?: Patience
}

/** A service around a fake world, listening on a free port of the loopback interface. */
export async function startFake(world: FakeWorld, options: FakeOptions = {}) {
  const table = options.routes === undefined ? routes : [...routes, ...options.routes]
  const server = createHttpServer(world, options.patience)
  server.on('request', createApp(table, world, options.app).callback())
  options.app?.forwarding?.listen(server)
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
        headers: defined({
          ...headers,
          'content-type': 'application/json',
          'idempotency-key': `k-${Math.random()}`,
          ...change,
        }),
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      } as RequestInit),
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function defined(headers: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
