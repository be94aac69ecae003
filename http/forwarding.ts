/**
 * Commands go to the node that is home to their customer's shard; their answers come back unchanged.
 *
 * What it promises
 *  * Reads are answered wherever they arrive: Postgres is the truth (I2). Everything else of a customer goes home, once:
 *    a forwarded request is never forwarded again, and is right wherever it ends up (I3).
 *  * While a shard has no home the caller waits a moment, then gets 503 with Retry-After. The same answer when the home
 *    goes away before it answered: the command may have happened, and its key finds the truth (I7).
 *  * Bodies stream both ways; small ones, which nearly all are, are sent in one piece. Connections are kept and bounded.
 *  * The time a caller still waits travels along, as a duration: the clocks of two nodes differ. What was waited for a home
 *    is taken off it, so a command is never begun after its caller was told 503.
 *  * Nodes know each other by a token derived from NODE_SECRET; without it the internal headers mean nothing.
 */
import { hkdfSync, timingSafeEqual } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Context, Middleware } from 'koa'
import { Pool, type Dispatcher } from 'undici'
import { OperatingError } from '../lib/errors.ts'
import { LIMITS } from '../lib/limits.ts'
import { refuse } from '../lib/problems.ts'
import { shardOf } from '../lib/shard.ts'
import type { ShardHome, Shards } from '../lib/shards.ts'

/** Internal headers: who forwards, for which client address, and how long the caller still waits. */
const TOKEN_HEADER = 'x-vostro-node'
const CLIENT_HEADER = 'x-vostro-client'
const DEADLINE_HEADER = 'x-vostro-deadline'
/** Connections kept to one other node. Commands wait for commits there, so it is their number at a time that is bounded. */
const CONNECTIONS_MAX = 128
/** Other nodes to keep connections to; nodes that come back elsewhere leave theirs behind. */
const NODES_MAX = 64
/** What the way back may take longer than the caller waits. */
const HEADERS_GRACE_MS = 1_000
/** How long a shard may be without a home before its callers are told; its lease moves within 5 s of a death. */
const HOMELESS_WAIT_MS = 2_000
const HOMELESS_LOOK_MS = 50
/** Up to this a body is read first and sent in one piece, which costs half of what streaming does. */
const BUFFERED_BODY_BYTES_MAX = 64 * 1024
/** Headers of one connection, not of the request. */
const HOP_HEADERS: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'te', 'trailer', 'expect', 'host', TOKEN_HEADER, CLIENT_HEADER, DEADLINE_HEADER])
/** In a request's state, where it is less than at first. */
const PATIENCE = 'patienceMs'
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

/** The customer's home cannot be reached just now. */
export class HomeUnavailable extends OperatingError {
  override readonly name = 'HomeUnavailable'
}

export interface Forwarding {
  readonly middleware: Middleware
  close(): Promise<void>
}

export interface ForwardingOptions {
  readonly shards: Shards
  readonly nodeSecret: string
}

/** How long the caller of a request still waits, milliseconds. */
export function patienceMs(context: Context): number {
  return (context.state[PATIENCE] as number | undefined) ?? LIMITS.requestDeadlineMs
}

/** Builds the forwarding of one node. */
export function createForwarding({ shards, nodeSecret }: ForwardingOptions): Forwarding {
  const token = Buffer.from(hkdfSync('sha256', nodeSecret, '', 'vostro node token', 32)).toString('hex')
  const expected = Buffer.from(token)
  const pools = new Map<string, Pool>()

  function poolOf(nodeUrl: string): Pool {
    let pool = pools.get(nodeUrl)
    if (pool === undefined) {
      const [oldest] = pools
      if (oldest !== undefined && pools.size >= NODES_MAX) {
        pools.delete(oldest[0])
        void oldest[1].close()
      }
      pool = new Pool(nodeUrl, { connections: CONNECTIONS_MAX, pipelining: 1, bodyTimeout: 60_000, connect: { timeout: 1_000 } })
      pools.set(nodeUrl, pool)
    }
    return pool
  }

  /** Whether another node sent this. The client's address is then the one it saw, and its patience what is left of it. */
  function isFromNode(context: Context): boolean {
    const sent = context.req.headers[TOKEN_HEADER]
    if (typeof sent !== 'string' || sent.length !== expected.length || !timingSafeEqual(Buffer.from(sent, 'latin1'), expected)) return false
    const client = context.req.headers[CLIENT_HEADER]
    if (typeof client === 'string') context.request.ip = client
    const left = Number(context.req.headers[DEADLINE_HEADER] ?? Number.NaN)
    if (left >= 0) context.state[PATIENCE] = Math.min(left, LIMITS.requestDeadlineMs)
    return true
  }

  async function settledHome(shard: number, context: Context): Promise<ShardHome> {
    const began = performance.now()
    const until = began + HOMELESS_WAIT_MS
    for (;;) {
      const home = shards.homeOf(shard)
      if (home.kind !== 'nowhere') {
        context.state[PATIENCE] = LIMITS.requestDeadlineMs - (performance.now() - began)
        return home
      }
      if (performance.now() >= until) throw new HomeUnavailable('The shard of this customer has no home at present.')
      await pause(HOMELESS_LOOK_MS)
    }
  }

  async function forward(context: Context, nodeUrl: string): Promise<void> {
    const { req } = context
    const length = Number(req.headers['content-length'] ?? (req.headers['transfer-encoding'] === undefined ? 0 : Number.NaN))
    const body = length === 0 ? null : length <= BUFFERED_BODY_BYTES_MAX ? await readAll(context) : req
    const headers = forwardedHeaders(context, token)
    const started = performance.now()
    await new Promise<void>((resolve, reject) => {
      context.respond = false
      const { res } = context
      poolOf(nodeUrl).dispatch({ path: req.url as string, method: req.method as Dispatcher.HttpMethod, headers, body, headersTimeout: patienceMs(context) + HEADERS_GRACE_MS }, {
        onRequestStart: (controller) => {
          // The client has gone: its command may still be decided, nobody waits for the answer.
          res.once('close', () => { if (!res.writableFinished) controller.abort(new Error('The client closed the connection.')) })
        },
        onResponseStart: (_controller, statusCode, answerHeaders) => { res.writeHead(statusCode, endToEnd(answerHeaders)) },
        onResponseData: (controller, chunk) => {
          if (!res.write(chunk)) {
            controller.pause()
            res.once('drain', () => controller.resume())
          }
        },
        onResponseEnd: () => { res.end(); resolve() },
        onResponseError: (_controller, error) => {
          if (res.headersSent) { res.destroy(); resolve(); return }
          context.respond = true
          reject(new HomeUnavailable(`The home of this customer did not answer (${Math.round(performance.now() - started)} ms).`, { cause: error }))
        },
      })
    })
  }

  return {
    async middleware(context, next) {
      const { req } = context
      if (req.method === 'GET' || req.method === 'HEAD') return await next()
      // A file goes to storage as it arrives, and any node can put it there.
      if (req.headers['content-type']?.toLowerCase().startsWith('multipart/form-data') === true) return await next()
      const tenant = req.headers['x-tenant-id']
      if (typeof tenant !== 'string' || !UUID.test(tenant)) return await next()
      const shard = shardOf(tenant)
      let home = shards.homeOf(shard)
      if (isFromNode(context) || home.kind === 'here') return await next()
      if (home.kind === 'nowhere') home = await settledHome(shard, context)
      if (home.kind !== 'there') return await next()
      await forward(context, home.nodeUrl)
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()))
    },
  }
}

function forwardedHeaders(context: Context, token: string): string[] {
  const { rawHeaders } = context.req
  const headers: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    const lower = name.toLowerCase()
    if (!HOP_HEADERS.has(lower) && lower !== 'x-request-id' && lower !== 'content-length') headers.push(name, rawHeaders[at + 1] as string)
  }
  headers.push('X-Request-Id', context.state['requestId'] as string, TOKEN_HEADER, token, CLIENT_HEADER, context.ip, DEADLINE_HEADER, patienceMs(context).toFixed(0))
  return headers
}

function endToEnd(headers: Record<string, string | string[] | undefined>): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {}
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined && !HOP_HEADERS.has(name)) kept[name] = value
  }
  return kept
}

/** Reads a body by its events: as an iterable, a request costs several times as much. */
async function readAll({ req }: Context): Promise<Buffer> {
  const chunks: Buffer[] = []
  const whole = await new Promise<boolean>((resolve) => {
    if (req.destroyed) { resolve(false); return }
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.once('end', () => resolve(true))
    req.once('error', () => resolve(false))
    req.once('close', () => resolve(false))
  })
  // The client has gone in the middle of it; nobody reads this, but it is no fault of ours.
  if (!whole) refuse('malformed-request', 'The body could not be read to its end.')
  return chunks.length === 1 ? chunks[0] as Buffer : Buffer.concat(chunks)
}
