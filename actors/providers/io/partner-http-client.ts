/**
 * Calls providers over HTTP. Each attempt waits for its turn in the rate of its connection, is bounded in time and
 * size, and is recorded without secrets.
 *
 *  * Redirects are not followed, and nothing is decompressed.
 *  * An attempt that failed before its first byte left is `unreachable`: the provider did nothing. Once a byte may have
 *    left, the outcome is unknown.
 *  * 429 pauses every call of the connection for the time that the provider asks for.
 *  * An operator names the address of its provider, so it must be an allowed one (lib/providers/provider-targets.ts): staff
 *    of an operator could otherwise reach hosts inside the service's own network.
 */
import { lookup } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { Pool, type Dispatcher } from 'undici'
import type { Clock } from '../../../lib/base/clock.ts'
import type { Redact } from '../../../lib/providers/redaction.ts'
import type { CallOutcome } from '../../../lib/providers/health.ts'
import type { ProviderCall } from '../../../lib/providers/provider-call.ts'
import { retryAfterMs } from '../../../lib/webhooks/schedule.ts'
import { addressFilter, checkProviderUrl, type ProviderTargets } from '../../../lib/providers/provider-targets.ts'
import {
  PartnerSilent,
  PartnerUnreachable,
  type PartnerAnswer,
  type PartnerEndpoint,
  type PartnerHttp,
  type PartnerRequest,
  type SignableRequest,
} from '../adapters/partner-http.ts'
import type { CallLimiter } from './call-limiter.ts'

const ANSWER_BYTES_MAX = 1024 * 1024
const HEADERS_BYTES_MAX = 32 * 1024
const ATTEMPTS_MAX = 3
/** The time between two attempts where the provider asks for none. */
const AGAIN_MS = 500
/** A provider that asks for a longer pause gets one, and the call ends. */
const PAUSE_AWAITED_MS = 5_000
const EXCERPT_LENGTH = 2_000

/** The parts that all clients of a connection share. */
export interface PartnerHttpOptions {
  readonly connectionId: string
  readonly targets: ProviderTargets
  readonly concurrent: number
  readonly limiter: CallLimiter
  readonly redact: Redact
  readonly clock: Clock
  readonly record: (call: Omit<ProviderCall, 'id'>) => void
  readonly report: (outcome: CallOutcome) => void
}

/** The end of one attempt: an answer, or why there is none. `sent`: a byte of the request may have left. */
type Attempt = { readonly answer: PartnerAnswer } | { readonly fault: string; readonly sent: boolean }

export class PartnerHttpClient implements PartnerHttp {
  readonly #options: PartnerHttpOptions
  readonly #endpoint: PartnerEndpoint
  readonly #base: URL
  readonly #pool: Pool

  /** @throws Error for an address that may not be called */
  constructor(options: PartnerHttpOptions, endpoint: PartnerEndpoint) {
    this.#options = options
    this.#endpoint = endpoint
    this.#base = addressOf(endpoint.baseUrl, options.targets)
    this.#pool = new Pool(this.#base.origin, {
      connections: options.concurrent,
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: HEADERS_BYTES_MAX,
      connect: { timeout: endpoint.timeoutMs, lookup: lookupWithin(options.targets), ...endpoint.tls },
    })
  }

  async send(request: PartnerRequest): Promise<PartnerAnswer> {
    for (let attempt = 1; ; attempt++) {
      const end = await this.#attempt(request)
      const isLast = attempt === ATTEMPTS_MAX
      if ('fault' in end) {
        const what = `${request.operation}: ${end.fault}`
        if (isLast || (end.sent && !request.repeatable))
          throw end.sent ? new PartnerSilent(what) : new PartnerUnreachable(what)
        await pause(AGAIN_MS)
        continue
      }
      const { status, headers } = end.answer
      const asked = retryAfterMs(headers['retry-after'], this.#options.clock.now())
      if (status === 429) {
        const pauseMs = asked ?? AGAIN_MS
        this.#options.limiter.pause(pauseMs)
        if (isLast || pauseMs > PAUSE_AWAITED_MS)
          throw new PartnerUnreachable(`${request.operation}: the provider takes no more calls for now.`, {
            retryAfterSeconds: Math.ceil(pauseMs / 1_000),
          })
      } else if (status === 503 && request.repeatable && !isLast && (asked ?? AGAIN_MS) <= PAUSE_AWAITED_MS)
        await pause(asked ?? AGAIN_MS)
      else return end.answer
    }
  }

  /** Finishes the calls under way, and takes no more. */
  async close(): Promise<void> {
    await this.#pool.close()
  }

  /** Makes one attempt, in its turn. A request of a token is made during another call, so it takes no turn of its own. */
  async #attempt(request: PartnerRequest): Promise<Attempt> {
    const { limiter, clock } = this.#options
    const leave = request.confidential === true ? () => undefined : await limiter.enter()
    const at = clock.now()
    const began = performance.now()
    const url = new URL(this.#base.pathname.replace(/\/$/, '') + request.path, this.#base)
    const body = bytesOf(request.body)
    let end: Attempt
    try {
      const headers = { ...headersFor(request.body), ...request.headers }
      const signed = await this.#sign({ method: request.method, url, headers, body }, at)
      end =
        signed === null
          ? { fault: 'the call could not be signed', sent: false }
          : await this.#exchange({ url, body, headers: { ...headers, ...signed } }, request)
    } finally {
      leave()
    }
    const latencyMs = Math.round(performance.now() - began)
    this.#note(request, { url, body, at, latencyMs }, end)
    return 'answer' in end ? { answer: { ...end.answer, latencyMs } } : end
  }

  /** Returns the headers that authorise a request; null when they cannot be had, as without a token. */
  async #sign(request: SignableRequest, now: number): Promise<Readonly<Record<string, string>> | null> {
    try {
      return (await this.#endpoint.sign?.(request, now)) ?? {}
    } catch (error) {
      if (error instanceof PartnerSilent || error instanceof PartnerUnreachable) return null
      throw error
    }
  }

  #exchange(
    { url, body, headers }: { readonly url: URL; readonly body: Uint8Array; readonly headers: Record<string, string> },
    { method, answerBytesMax = ANSWER_BYTES_MAX }: PartnerRequest,
  ): Promise<Attempt> {
    const { timeoutMs } = this.#endpoint
    return new Promise((resolve) => {
      let controller: Dispatcher.DispatchController | null = null
      let sent = false
      let isOver = false
      let status = 0
      let answerHeaders: Record<string, string> = {}
      const chunks: Uint8Array[] = []
      let length = 0
      const settle = (end: Attempt, abandon = false): void => {
        if (isOver) return
        isOver = true
        clearTimeout(timer)
        resolve(end)
        if (abandon) controller?.abort(new Error('The call is over.'))
      }
      const timer = setTimeout(() => settle({ fault: `no answer within ${timeoutMs} ms`, sent }, true), timeoutMs)
      this.#pool.dispatch(
        { path: `${url.pathname}${url.search}`, method, headers, body: body.length === 0 ? null : body },
        {
          onRequestStart: (started) => {
            controller = started
            if (isOver) started.abort(new Error('The call was over before it began.'))
            else sent = true
          },
          onResponseStart: (_controller, statusCode, received) => {
            if (statusCode < 200) return
            status = statusCode
            answerHeaders = plainHeaders(received)
          },
          onResponseData: (_controller, chunk) => {
            length += chunk.length
            if (length > answerBytesMax) settle({ fault: `an answer above ${answerBytesMax} bytes`, sent }, true)
            else chunks.push(Uint8Array.from(chunk))
          },
          onResponseEnd: () => settle({ answer: answerOf(status, answerHeaders, Buffer.concat(chunks)) }),
          onResponseError: (_controller, error) => settle({ fault: faultOf(error), sent }),
        },
      )
    })
  }

  #note(
    { operation, method, confidential }: PartnerRequest,
    {
      url,
      body,
      at,
      latencyMs,
    }: { readonly url: URL; readonly body: Uint8Array; readonly at: number; readonly latencyMs: number },
    end: Attempt,
  ): void {
    const { connectionId, redact, record, report } = this.#options
    const answer = 'answer' in end ? end.answer : null
    const isWell = answer !== null && answer.status < 400
    const excerpt = (bytes: Uint8Array): string | null =>
      isWell || confidential === true ? null : redact(textOf(bytes)).slice(0, EXCERPT_LENGTH)
    record({
      connectionId,
      operation,
      method,
      target: redact(`${url.host}${url.pathname}${url.search}`),
      status: answer?.status ?? null,
      fault: 'fault' in end ? (end.sent ? 'silent' : 'unreachable') : null,
      message: 'fault' in end ? redact(end.fault) : null,
      latencyMs,
      requestBytes: body.length,
      answerBytes: answer?.body.length ?? 0,
      request: excerpt(body),
      answer: answer === null ? null : excerpt(answer.body),
      at,
    })
    const error = faultIn(end)
    report(error === null ? { ok: true, latencyMs } : { ok: false, latencyMs, error: `${operation}: ${redact(error)}` })
  }
}

/** Reads an address of a provider. @throws Error for an address that may not be called, in words for staff */
function addressOf(baseUrl: string, targets: ProviderTargets): URL {
  const target = checkProviderUrl(baseUrl, targets)
  if (target.kind === 'unreadable') throw new Error('The address of a provider must be a URL.')
  if (target.kind === 'unsafe') throw new Error(`The address of a provider may not be called. ${target.detail}`)
  if (target.url.search !== '') throw new Error('The address of a provider must not have a query.')
  return target.url
}

/** Resolves names, and refuses a name of which one address is not allowed. */
export function lookupWithin(targets: ProviderTargets, resolve: typeof lookup = lookup): LookupFunction {
  const isAllowed = addressFilter(targets)
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? []
      const isInside = addresses?.some(({ address }) => !isAllowed(address))
      if (error !== null || first === undefined) done(error ?? new Error('no address'), '', 0)
      else if (isInside) done(Object.assign(new Error('not a public address'), { code: 'NOT_PUBLIC' }), '', 0)
      else if (options.all === true) done(null, addresses)
      else done(null, first.address, first.family)
    })
  }
}

function bytesOf(body: PartnerRequest['body']): Uint8Array {
  if (body === undefined) return new Uint8Array()
  if (body instanceof Uint8Array) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

const headersFor = (body: PartnerRequest['body']): Readonly<Record<string, string>> => ({
  accept: 'application/json',
  ...(typeof body === 'object' && !(body instanceof Uint8Array) ? { 'content-type': 'application/json' } : {}),
})

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8').replaceAll('\0', '')

function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]],
    ),
  )
}

function answerOf(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): PartnerAnswer {
  let json: unknown
  try {
    json = body.length === 0 ? undefined : JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    // An answer of something in between, such as a page of a proxy.
  }
  return { status, headers, body, json, latencyMs: 0 }
}

/** Tells what is technically wrong with the end of an attempt; null for an answer, be it a refusal. */
function faultIn(end: Attempt): string | null {
  if ('fault' in end) return end.fault
  const { status } = end.answer
  return status >= 500 || status === 401 || status === 429 ? `the provider answered ${status}` : null
}

/** Names the trouble of a connection by its code: the texts of errors may hold addresses and more. */
function faultOf(error: Error & { readonly code?: unknown }): string {
  return typeof error.code === 'string' ? `the connection failed (${error.code})` : 'the connection failed'
}
