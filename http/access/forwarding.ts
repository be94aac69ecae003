/**
 * Forwards a command to the home node of its customer's shard, and returns the home's answer unchanged.
 *
 * Promises
 *  * Reads are answered by the node that they reach, because Postgres is the truth (I2). Every other request of a
 *    customer is forwarded to its home, once. A forwarded request is never forwarded again, and gets a correct answer
 *    on any node (I3).
 *  * Only a checked request is forwarded: its caller is authenticated and allowed, its limits were checked, and its
 *    body has arrived whole and is JSON. A body that arrives slowly uses nothing of another node.
 *  * The credential stays on the node that it reached. The forwarded request carries the caller's identity
 *    (http/access/caller-identity.ts), the headers that operations read, and the body; all of it is signed for one
 *    node, one time and one use.
 *  * The home signs its answer together with the request. An answer without a valid signature is treated as no answer.
 *  * While a shard has no home the caller waits for a moment, then gets 503 with Retry-After. The caller gets the same
 *    answer when the home fails before it answers: the command may have been executed, and a retry with the same
 *    Idempotency-Key finds its outcome (I7).
 *  * The time that the caller still waits is sent along as a duration, because the clocks of two nodes differ. Time
 *    spent waiting for a home is subtracted, so no command begins after its caller was answered 503.
 *
 * Measured in one process without a database (32 requests at a time, CPU of both nodes and the client together): a
 * forwarded payment takes 260 µs, a payment that is not forwarded 95 µs. The four signatures take some 14 µs; most of
 * the rest is HTTP.
 */
import { hash, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { Context, Middleware } from 'koa'
import type { Dispatcher } from 'undici'
import type { Clock } from '../../lib/base/clock.ts'
import { OperatingError } from '../../lib/base/errors.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import { CLOCK_DIFFERENCE_MAX_MS, NodeProof } from '../../lib/security/node-proof.ts'
import { refuse } from '../../lib/base/problems.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import type { NodeAddress, ShardHome, Shards } from '../../lib/shards/shards.ts'
import type { Seal } from '../route/answer.ts'
import { callerOf, type ForwardedCaller, type CallerIdentity } from './caller-identity.ts'
import { createNodeConnections, NODE_ANSWER_HEADER, NODE_HEADER } from './node-connections.ts'
import type { Log } from '../../lib/base/log.ts'

/** The header with the envelope: caller, remaining patience and digest of the body, as base64url of JSON. */
const CALLER_HEADER = 'x-vostro-caller'
/** Request headers that operations read. No other header is forwarded, and none of these carries a credential. */
const FORWARDED_HEADERS = [
  'content-type',
  'idempotency-key',
  'if-match',
  'user-agent',
  'x-tenant-id',
  'x-request-id',
] as const
/** Headers that belong to one connection, or that each node sets itself. */
const HOP_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'date',
  NODE_ANSWER_HEADER,
])
/** Time for the answer's way back, beyond the time that the caller waits. */
const HEADERS_GRACE_MS = 1_000
/** How long a shard may be without a home before callers get 503. Its lease moves within 5 s after a node's death. */
const HOMELESS_WAIT_MS = 2_000
const HOMELESS_LOOK_MS = 50
/** An answer is held until its signature is checked. The largest answer of a command has some 100 KB. */
const ANSWER_BYTES_MAX = 8 * 1024 * 1024
/** Name in the request's state of the remaining patience, set where it is less than at first. */
const PATIENCE = 'patienceMs'

/** The customer's home cannot be reached just now. */
export class HomeUnavailable extends OperatingError {
  override readonly name = 'HomeUnavailable'
}

/** A command that another node has forwarded, after that node authenticated its caller. */
export interface ForwardedCommand extends ForwardedCaller {
  /** Whether this text is the body that was signed; null means a request without a body. */
  isBody(text: string | null): boolean
}

/** Forwards commands to their home nodes, and receives forwarded commands. */
export interface Forwarding {
  /** Answers the handshakes of other nodes. */
  readonly middleware: Middleware
  /**
   * Returns the command when another node has sent this request, or null when a client has.
   * @throws ProblemError 401 for a request that was received before, or whose node's clock differs too much
   */
  receive(context: Context): ForwardedCommand | null
  /**
   * Finds the home node of the tenant; null when this node is the home, or may be. Returns a promise only while there
   * is no home.
   * @throws HomeUnavailable when there is no home for 2 s
   */
  homeOf(tenantId: string, context: Context): NodeAddress | null | Promise<NodeAddress | null>
  /** Sends the command to its home, and answers with the home's answer. @throws HomeUnavailable */
  forward(context: Context, home: NodeAddress, caller: CallerIdentity, body: string | null): Promise<void>
  close(): Promise<void>
}

/** Settings and dependencies of the forwarding. */
export interface ForwardingOptions {
  readonly shards: Pick<Shards, 'homeOf'>
  readonly nodeSecret: string
  /** Id of this start of the process, by which other nodes know it. */
  readonly instance: string
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
}

/** Data sent with a forwarded request, beside headers and body. */
interface Envelope {
  readonly caller: CallerIdentity
  /** The client's address, as seen by the node that the request reached. */
  readonly address: string
  readonly patienceMs: number
  /** SHA-256 of the body in hexadecimal; of zero bytes when there is no body. */
  readonly bodySha256: string
}

/** How long the caller of a request still waits, in milliseconds. */
export function patienceMs(context: Context): number {
  return (context.state[PATIENCE] as number | undefined) ?? LIMITS.requestDeadlineMs
}

/** Builds the forwarding of one node. */
export function createForwarding({ shards, nodeSecret, instance, clock, log }: ForwardingOptions): Forwarding {
  const proof = new NodeProof(nodeSecret)
  const connections = createNodeConnections({ proof, clock, instance, log })
  const nextNonce = nonceSource()
  const seen = new SeenNonces()

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

  function sealing(nonce: string): Seal {
    return (status, headers, body) => [
      NODE_ANSWER_HEADER,
      proof.sign('answer', [nonce, `${status}`, ...signedLines(pairsOf(headers))], body),
    ]
  }

  return {
    async middleware(context, next) {
      if (!connections.answerHandshake(context)) await next()
    },

    receive(context) {
      const { req } = context
      const sent = req.headers[NODE_HEADER]
      const envelope = req.headers[CALLER_HEADER]
      if (typeof sent !== 'string' || typeof envelope !== 'string') return null
      const [time = '', nonce = '', signature = ''] = sent.split('.')
      if (
        !proof.isSigned(
          'request',
          requestParts(context, { to: instance, time, nonce, envelope }, req.headers),
          signature,
        )
      )
        return null
      const now = clock.now()
      const differenceMs = now - Number(time)
      if (Math.abs(differenceMs) > CLOCK_DIFFERENCE_MAX_MS) {
        log.warn(
          { differenceMs, maxMs: CLOCK_DIFFERENCE_MAX_MS },
          'a forwarded request was refused: the clocks of the two nodes differ too much, or it is an old one',
        )
        refuse('unauthenticated', 'The forwarded request was signed at another time.')
      }
      if (!seen.isNew(nonce, now)) {
        log.warn({ address: req.socket.remoteAddress }, 'a forwarded request was refused: it was received before')
        refuse('unauthenticated', 'The forwarded request was received before.')
      }
      const {
        caller,
        address,
        patienceMs: left,
        bodySha256,
      } = JSON.parse(Buffer.from(envelope, 'base64url').toString()) as Envelope
      context.request.ip = address
      context.state[PATIENCE] = Math.min(left, LIMITS.requestDeadlineMs)
      // The node that answers the client adds the common headers.
      context.state['headers'] = undefined
      context.state['seal'] = sealing(nonce)
      return { ...callerOf(caller), isBody: (text) => digestOf(text) === bodySha256 }
    },

    homeOf(tenantId, context) {
      const shard = shardOf(tenantId)
      const home = shards.homeOf(shard)
      if (home.kind === 'nowhere') return settledHome(shard, context).then(elsewhere)
      return elsewhere(home)
    },

    async forward(context, home, caller, body) {
      const { req, res } = context
      const envelope = Buffer.from(
        JSON.stringify({
          caller,
          address: context.ip,
          patienceMs: Math.round(patienceMs(context)),
          bodySha256: digestOf(body),
        } satisfies Envelope),
      ).toString('base64url')
      const time = `${clock.now()}`
      const nonce = nextNonce()
      const sent: Record<string, string> = {}
      const headers: string[] = []
      for (const name of FORWARDED_HEADERS) {
        const value =
          name === 'x-request-id' ? (context.state['requestId'] as string) : (req.headers[name] as string | undefined)
        if (value === undefined) continue
        sent[name] = value
        headers.push(name, value)
      }
      const signature = proof.sign('request', requestParts(context, { to: home.instance, time, nonce, envelope }, sent))
      headers.push(CALLER_HEADER, envelope, NODE_HEADER, `${time}.${nonce}.${signature}`)

      const started = performance.now()
      const unavailable = (cause: unknown) =>
        new HomeUnavailable(
          `The home of this customer did not answer (${Math.round(performance.now() - started)} ms).`,
          { cause },
        )
      const answer = await new Promise<ReceivedAnswer>((resolve, reject) => {
        let status = 0
        let answered: IncomingHttpHeaders = {}
        let bytes = 0
        const chunks: Buffer[] = []
        connections.to(home).dispatch(
          {
            path: req.url as string,
            method: req.method as Dispatcher.HttpMethod,
            headers,
            body,
            headersTimeout: patienceMs(context) + HEADERS_GRACE_MS,
          },
          {
            onRequestStart: (controller) => {
              // The client has closed its connection. The command may still be decided, but its answer is not needed.
              res.once('close', () => {
                if (!res.writableFinished) controller.abort(new Error('The client closed the connection.'))
              })
            },
            onResponseStart: (_controller, statusCode, answerHeaders) => {
              status = statusCode
              answered = answerHeaders
            },
            onResponseData: (controller, chunk) => {
              bytes += chunk.length
              if (bytes > ANSWER_BYTES_MAX)
                controller.abort(new Error(`The answer has more than ${ANSWER_BYTES_MAX} bytes.`))
              else chunks.push(chunk)
            },
            onResponseEnd: () =>
              resolve({
                status,
                headers: answered,
                body: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks),
              }),
            onResponseError: (_controller, error) => reject(unavailable(error)),
          },
        )
      })
      const pairs = endToEnd(answer.headers)
      const seal = answer.headers[NODE_ANSWER_HEADER]
      if (
        typeof seal !== 'string' ||
        !proof.isSigned('answer', [nonce, `${answer.status}`, ...signedLines(pairs)], seal, answer.body)
      ) {
        throw unavailable(new Error(`The answer with status ${answer.status} is not signed by the home.`))
      }
      context.respond = false
      const common = context.state['headers'] as readonly string[] | undefined
      res.writeHead(answer.status, [...pairs.flat(), ...(common ?? [])]).end(answer.body)
    },

    close: () => connections.close(),
  }
}

interface ReceivedAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const elsewhere = (home: ShardHome): NodeAddress | null => (home.kind === 'there' ? home : null)

const digestOf = (body: string | null): string => hash('sha256', body ?? '', 'hex')

/**
 * Lists the parts that a request's signature covers: home, time, operation, caller, headers, and digest of the body.
 */
function requestParts(
  { req }: Context,
  {
    to,
    time,
    nonce,
    envelope,
  }: { readonly to: string; readonly time: string; readonly nonce: string; readonly envelope: string },
  headers: IncomingHttpHeaders,
): string[] {
  return [
    to,
    time,
    nonce,
    req.method as string,
    req.url as string,
    envelope,
    ...FORWARDED_HEADERS.map((name) => (headers[name] as string | undefined) ?? ''),
  ]
}

type Pair = readonly [name: string, value: string]

/** Pairs up headers that are given as name and value in turn. */
function pairsOf(headers: readonly string[]): Pair[] {
  const pairs: Pair[] = []
  for (let at = 0; at < headers.length; at += 2) pairs.push([headers[at] as string, headers[at + 1] as string])
  return pairs
}

/** Selects the headers of an answer that are passed on to the client. */
function endToEnd(headers: IncomingHttpHeaders): Pair[] {
  const pairs: Pair[] = []
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || HOP_HEADERS.has(name)) continue
    for (const one of Array.isArray(value) ? value : [value]) pairs.push([name, one])
  }
  return pairs
}

/** Writes headers in one order and one case, so that sender and receiver sign the same text. */
function signedLines(pairs: readonly Pair[]): string[] {
  return pairs.map(([name, value]) => `${name.toLowerCase()}:${value}`).sort()
}

/** Makes nonces that no other request of any node has. */
function nonceSource(): () => string {
  const prefix = randomBytes(12).toString('base64url')
  let sent = 0
  return () => `${prefix}${(++sent).toString(36)}`
}

/**
 * The nonces of received requests, kept for as long as their signatures are valid. A request whose node's clock is
 * ahead by the permitted difference is valid for twice that time. Two generations are kept, so forgetting costs
 * nothing.
 */
class SeenNonces {
  #recent = new Set<string>()
  #older = new Set<string>()
  #since = Number.NEGATIVE_INFINITY

  /** Remembers the nonce. Returns false when it was remembered before. */
  isNew(nonce: string, now: number): boolean {
    if (now - this.#since > 2 * CLOCK_DIFFERENCE_MAX_MS || now < this.#since) {
      this.#older = this.#recent
      this.#recent = new Set()
      this.#since = now
    }
    if (this.#recent.has(nonce) || this.#older.has(nonce)) return false
    this.#recent.add(nonce)
    return true
  }
}
