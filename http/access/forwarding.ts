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
import { setTimeout as pause } from 'node:timers/promises'
import type { Context, Middleware } from 'koa'
import type { Dispatcher } from 'undici'
import type { Clock } from '../../lib/base/clock.ts'
import { OperatingError } from '../../lib/base/errors.ts'
import { LIMITS } from '../../lib/base/limits.ts'
import type { Log } from '../../lib/base/log.ts'
import { refuse } from '../../lib/base/problems.ts'
import { CLOCK_DIFFERENCE_MAX_MS, NodeProof } from '../../lib/security/node-proof.ts'
import { shardOf } from '../../lib/shards/shard.ts'
import type { NodeAddress, ShardHome, Shards } from '../../lib/shards/shards.ts'
import type { Seal } from '../route/answer.ts'
import { callerOf, type CallerIdentity, type ForwardedCaller } from './caller-identity.ts'
import {
  answerParts,
  CALLER_HEADER,
  decodeEnvelope,
  digestOf,
  encodeEnvelope,
  endToEnd,
  forwardedHeaders,
  pairsOf,
  requestParts,
} from './forwarded-messages.ts'
import { requestAnswer } from './home-answer.ts'
import { createNodeConnections, NODE_ANSWER_HEADER, NODE_HEADER, type NodeConnections } from './node-connections.ts'
import { nonceSource, SeenNonces } from './nonces.ts'

/** Time for the answer's way back, beyond the time that the caller waits. */
const HEADERS_GRACE_MS = 1_000
/** How long a shard may be without a home before callers get 503. Its lease moves within 5 s after a node's death. */
const HOMELESS_WAIT_MS = 2_000
const HOMELESS_LOOK_MS = 50
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

/** Settings and dependencies of the forwarding. */
export interface ForwardingOptions {
  readonly shards: Pick<Shards, 'homeOf'>
  readonly nodeSecret: string
  /** Id of this start of the process, by which other nodes know it. */
  readonly instance: string
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
}

/** How long the caller of a request still waits, in milliseconds. */
export function patienceMs(context: Context): number {
  return (context.state[PATIENCE] as number | undefined) ?? LIMITS.requestDeadlineMs
}

/** Forwards commands to their home nodes, and receives forwarded commands. */
export class Forwarding {
  readonly #shards: Pick<Shards, 'homeOf'>
  readonly #instance: string
  readonly #clock: Clock
  readonly #log: Pick<Log, 'warn'>
  readonly #proof: NodeProof
  readonly #connections: NodeConnections
  readonly #nextNonce = nonceSource()
  readonly #seen = new SeenNonces()

  constructor({ shards, nodeSecret, instance, clock, log }: ForwardingOptions) {
    this.#shards = shards
    this.#instance = instance
    this.#clock = clock
    this.#log = log
    this.#proof = new NodeProof(nodeSecret)
    this.#connections = createNodeConnections({ proof: this.#proof, clock, instance, log })
  }

  /** Answers the handshakes of other nodes. */
  readonly middleware: Middleware = async (context, next) => {
    if (!this.#connections.answerHandshake(context)) await next()
  }

  /**
   * Returns the command when another node has sent this request, or null when a client has.
   * @throws ProblemError 401 for a request that was received before, or whose node's clock differs too much
   */
  receive(context: Context): ForwardedCommand | null {
    const { headers } = context.req
    const sent = headers[NODE_HEADER]
    const envelope = headers[CALLER_HEADER]
    if (typeof sent !== 'string' || typeof envelope !== 'string') return null
    const [time = '', nonce = '', signature = ''] = sent.split('.')
    const parts = requestParts(context, { to: this.#instance, time, nonce, envelope }, headers)
    if (!this.#proof.isSigned('request', parts, signature)) return null
    this.#refuseReplay(context, Number(time), nonce)
    const { caller, address, patienceMs: left, bodySha256 } = decodeEnvelope(envelope)
    context.request.ip = address
    context.state[PATIENCE] = Math.min(left, LIMITS.requestDeadlineMs)
    // The node that answers the client adds the common headers.
    context.state['headers'] = undefined
    context.state['seal'] = this.#sealing(nonce)
    return { ...callerOf(caller), isBody: (text) => digestOf(text) === bodySha256 }
  }

  /**
   * Finds the home node of the tenant; null when this node is the home, or may be. Returns a promise only while there
   * is no home.
   * @throws HomeUnavailable when there is no home for 2 s
   */
  homeOf(tenantId: string, context: Context): NodeAddress | null | Promise<NodeAddress | null> {
    const shard = shardOf(tenantId)
    const home = this.#shards.homeOf(shard)
    if (home.kind === 'nowhere') return this.#settledHome(shard, context).then(elsewhere)
    return elsewhere(home)
  }

  /** Sends the command to its home, and answers with the home's answer. @throws HomeUnavailable */
  async forward(context: Context, home: NodeAddress, caller: CallerIdentity, body: string | null): Promise<void> {
    const { req, res } = context
    const nonce = this.#nextNonce()
    const headers = this.#signedHeaders(context, home, caller, body, nonce)
    const started = performance.now()
    const unavailable = (cause: unknown) =>
      new HomeUnavailable(`The home of this customer did not answer (${Math.round(performance.now() - started)} ms).`, {
        cause,
      })
    const request: Dispatcher.DispatchOptions = {
      path: req.url as string,
      method: req.method as Dispatcher.HttpMethod,
      headers,
      body,
      headersTimeout: patienceMs(context) + HEADERS_GRACE_MS,
    }
    const answer = await requestAnswer(this.#connections.to(home), request, res).catch((error: unknown) => {
      throw unavailable(error)
    })
    const pairs = endToEnd(answer.headers)
    const seal = answer.headers[NODE_ANSWER_HEADER]
    if (
      typeof seal !== 'string' ||
      !this.#proof.isSigned('answer', answerParts(nonce, answer.status, pairs), seal, answer.body)
    ) {
      throw unavailable(new Error(`The answer with status ${answer.status} is not signed by the home.`))
    }
    context.respond = false
    const common = context.state['headers'] as readonly string[] | undefined
    res.writeHead(answer.status, [...pairs.flat(), ...(common ?? [])]).end(answer.body)
  }

  /** Closes the connections to other nodes. */
  close(): Promise<void> {
    return this.#connections.close()
  }

  /** Waits until the shard has a home, and subtracts the time from the caller's patience. */
  async #settledHome(shard: number, context: Context): Promise<ShardHome> {
    const began = performance.now()
    const until = began + HOMELESS_WAIT_MS
    for (;;) {
      const home = this.#shards.homeOf(shard)
      if (home.kind !== 'nowhere') {
        context.state[PATIENCE] = LIMITS.requestDeadlineMs - (performance.now() - began)
        return home
      }
      if (performance.now() >= until) throw new HomeUnavailable('The shard of this customer has no home at present.')
      await pause(HOMELESS_LOOK_MS)
    }
  }

  /** @throws ProblemError 401 for a request that was signed too long ago, or received before */
  #refuseReplay({ req }: Context, sentAt: number, nonce: string): void {
    const now = this.#clock.now()
    const differenceMs = now - sentAt
    if (Math.abs(differenceMs) > CLOCK_DIFFERENCE_MAX_MS) {
      this.#log.warn(
        { differenceMs, maxMs: CLOCK_DIFFERENCE_MAX_MS },
        'a forwarded request was refused: the clocks of the two nodes differ too much, or it is an old one',
      )
      refuse('unauthenticated', 'The forwarded request was signed at another time.')
    }
    if (!this.#seen.isNew(nonce, now)) {
      this.#log.warn({ address: req.socket.remoteAddress }, 'a forwarded request was refused: it was received before')
      refuse('unauthenticated', 'The forwarded request was received before.')
    }
  }

  /** Signs the answers to one request. */
  #sealing(nonce: string): Seal {
    return (status, headers, body) => [
      NODE_ANSWER_HEADER,
      this.#proof.sign('answer', answerParts(nonce, status, pairsOf(headers)), body),
    ]
  }

  /** Makes the headers of a forwarded request, names and values in turn, with its envelope and signature. */
  #signedHeaders(
    context: Context,
    home: NodeAddress,
    caller: CallerIdentity,
    body: string | null,
    nonce: string,
  ): string[] {
    const envelope = encodeEnvelope({
      caller,
      address: context.ip,
      patienceMs: Math.round(patienceMs(context)),
      bodySha256: digestOf(body),
    })
    const time = `${this.#clock.now()}`
    const sent = forwardedHeaders(context)
    const signature = this.#proof.sign(
      'request',
      requestParts(context, { to: home.instance, time, nonce, envelope }, sent),
    )
    const headers: string[] = []
    for (const name in sent) headers.push(name, sent[name] as string)
    headers.push(CALLER_HEADER, envelope, NODE_HEADER, `${time}.${nonce}.${signature}`)
    return headers
  }
}

const elsewhere = (home: ShardHome): NodeAddress | null => (home.kind === 'there' ? home : null)
