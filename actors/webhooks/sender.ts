/**
 * Sends one delivery attempt: checks the addresses, connects to an address that was checked, and reads the answer
 * within limits of time and memory that a hostile receiver cannot extend.
 *
 *  * Each attempt resolves the name and checks every address. One address that is not public fails the attempt. The
 *    socket is opened to one of the checked addresses, without a second resolution.
 *  * Success is a 2xx whose headers arrive within 10 s of the start. At most 64 KiB of the body are read, for at most
 *    BODY_MS; then the connection is closed. Nothing is decompressed, redirects are not followed.
 *  * Connections are kept per endpoint and address, so that one receiver's connection is never used for another.
 */
import { lookup, Resolver } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { Pool, type Dispatcher } from 'undici'
import { LIMITS } from '../../lib/base/limits.ts'
import { retryAfterMs } from '../../lib/webhooks/schedule.ts'
import { checkTarget, isPublicAddress, type Target, type TargetPolicy } from '../../lib/webhooks/target.ts'

/** Resolves a host name to its addresses. @throws when there are none */
export type ResolveHost = (host: string) => Promise<readonly string[]>

export type ErrorKind =
  | 'http_status'
  | 'timeout'
  | 'dns'
  | 'connect'
  | 'tls'
  | 'redirect'
  | 'unsafe_address'
  | 'response_too_large'

export interface AttemptResult {
  readonly succeeded: boolean
  readonly responseStatus: number | null
  readonly errorKind: ErrorKind | null
  readonly errorMessage: string | null
  /** The first KiB of the answer. */
  readonly responseSnippet: string | null
  readonly resolvedAddress: string | null
  readonly retryAfterMs: number | null
}

/** The request to send. */
export interface Callback {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** The number of earlier attempts: a name with several addresses is tried at a different one each time. */
  readonly nth: number
}

/** The time for reading a body after its headers; the headers have decided the result by then. */
const BODY_MS = 2_000
const SNIPPET_BYTES = 1_024
const HEADERS_BYTES_MAX = 16 * 1024
/**
 * Idle connections are closed before receivers usually close them, so that a callback rarely meets a closing
 * connection.
 */
const KEEP_ALIVE_MS = 4_000
const DNS_TIMEOUT_MS = 3_000
const MESSAGE_LENGTH_MAX = 200

/**
 * Creates the resolver of the policy: the network's DNS servers, or, under the policy `any` of a developer's machine,
 * the resolver of that machine.
 */
export function createResolve(policy: TargetPolicy): ResolveHost {
  if (policy === 'any') return async (host) => (await lookup(host, { all: true })).map(({ address }) => address)
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 })
  return async (host) => {
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = found.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
    if (addresses.length === 0) throw (found[0] as PromiseRejectedResult).reason
    return addresses
  }
}

const failed = (errorKind: ErrorKind, errorMessage: string, rest: Partial<AttemptResult> = {}): AttemptResult => ({
  succeeded: false,
  responseStatus: null,
  errorKind,
  errorMessage: errorMessage.slice(0, MESSAGE_LENGTH_MAX),
  responseSnippet: null,
  resolvedAddress: null,
  retryAfterMs: null,
  ...rest,
})

/** The HTTP client of one endpoint. */
export class ReceiverClient {
  readonly #policy: TargetPolicy
  readonly #resolve: ResolveHost
  readonly #connections: number
  readonly #now: () => number
  #pool: { readonly key: string; readonly pool: Pool } | null = null
  /** The last URL and its parsed form; reused while the URL stays the same. */
  #read: { readonly text: string; readonly target: Target } | null = null
  readonly #underWay = new Set<() => void>()

  constructor(options: {
    readonly policy: TargetPolicy
    readonly resolve: ResolveHost
    readonly connections: number
    readonly now: () => number
  }) {
    this.#policy = options.policy
    this.#resolve = options.resolve
    this.#connections = options.connections
    this.#now = options.now
  }

  /** Makes one attempt; never throws. */
  async send({ url, headers, body, nth }: Callback): Promise<AttemptResult> {
    const until = performance.now() + LIMITS.webhookTimeoutMs
    if (this.#read?.text !== url) this.#read = { text: url, target: checkTarget(url, this.#policy) }
    const { target } = this.#read
    if (target.kind !== 'ok')
      return failed('unsafe_address', target.kind === 'unsafe' ? target.detail : 'The address cannot be read.')
    let address = target.address
    if (address === null) {
      let addresses: readonly string[]
      try {
        addresses = await within(this.#resolve(target.host), until)
      } catch (error) {
        if (error instanceof TooLate) return failed('timeout', 'The name was not resolved in time.')
        return failed('dns', `The name could not be resolved (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`)
      }
      const inside = this.#policy === 'any' ? undefined : addresses.find((one) => !isPublicAddress(one))
      if (inside !== undefined)
        return failed('unsafe_address', 'The name leads to an address that is not public.', { resolvedAddress: inside })
      address = addresses[nth % addresses.length] as string
    }
    return await this.#exchange(target.url, address, { headers, body }, until)
  }

  #poolOf(origin: string, address: string): Pool {
    const key = `${origin} ${address}`
    if (this.#pool?.key === key) return this.#pool.pool
    // Requests in flight on the old pool may finish; new requests use the new pool.
    void this.#pool?.pool.close()
    const family = isIPv6(address) ? 6 : 4
    const pool = new Pool(origin, {
      connections: this.#connections,
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: HEADERS_BYTES_MAX,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: 10 * KEEP_ALIVE_MS,
      connect: {
        timeout: LIMITS.webhookTimeoutMs,
        // TLS needs the name; the address has been chosen already.
        lookup: (_host, { all }, done) => {
          if (all === true) done(null, [{ address, family }])
          else done(null, address, family)
        },
      },
    })
    this.#pool = { key, pool }
    return pool
  }

  #exchange(
    url: URL,
    address: string,
    { headers, body }: Pick<Callback, 'headers' | 'body'>,
    until: number,
  ): Promise<AttemptResult> {
    return new Promise((resolve) => {
      let controller: Dispatcher.DispatchController | null = null
      let status: number | null = null
      let retryAfter: number | null = null
      let read = 0
      const snippet: Buffer[] = []
      let over = false

      const settle = (result: AttemptResult, abandon: boolean): void => {
        if (over) return
        over = true
        clearTimeout(timer)
        this.#underWay.delete(stop)
        resolve(result)
        if (abandon) controller?.abort(new Error('Enough has been read.'))
      }
      const answer = (): AttemptResult =>
        answered(status as number, {
          responseSnippet: textOf(snippet),
          resolvedAddress: address,
          retryAfterMs: retryAfter,
        })
      const late = (): void =>
        settle(
          status === null
            ? failed('timeout', `No answer within ${LIMITS.webhookTimeoutMs / 1_000} s.`, { resolvedAddress: address })
            : answer(),
          true,
        )
      const stop = (): void =>
        settle(
          status === null ? failed('timeout', 'The attempt was given up.', { resolvedAddress: address }) : answer(),
          true,
        )
      let timer = setTimeout(late, Math.max(0, until - performance.now()))
      this.#underWay.add(stop)

      this.#poolOf(url.origin, address).dispatch(
        { path: `${url.pathname}${url.search}`, method: 'POST', headers: { ...headers }, body },
        {
          onRequestStart: (started) => {
            controller = started
            if (over) started.abort(new Error('It was given up before it began.'))
          },
          onResponseStart: (_controller, statusCode, answerHeaders) => {
            if (statusCode < 200 || over) return
            status = statusCode
            const asked = answerHeaders['retry-after']
            retryAfter = retryAfterMs(typeof asked === 'string' ? asked : undefined, this.#now())
            clearTimeout(timer)
            timer = setTimeout(late, Math.min(BODY_MS, Math.max(0, until - performance.now())))
          },
          onResponseData: (_controller, chunk) => {
            if (read < SNIPPET_BYTES) snippet.push(Buffer.from(chunk.subarray(0, SNIPPET_BYTES - read)))
            read += chunk.length
            if (read >= LIMITS.webhookAnswerBytesMax) settle(answer(), true)
          },
          onResponseEnd: () => settle(answer(), false),
          // The status decides the attempt; a later error of the connection changes nothing.
          onResponseError: (_controller, error) => settle(status === null ? broken(error, address) : answer(), false),
        },
      )
    })
  }

  /** Aborts the requests in flight; those without an answer count as failed. */
  giveUp(): void {
    for (const stop of this.#underWay) stop()
  }

  /** Aborts the requests in flight and closes the connections. */
  close(): void {
    this.giveUp()
    void this.#pool?.pool.destroy()
    this.#pool = null
  }
}

class TooLate extends Error {}

async function within<Value>(work: Promise<Value>, until: number): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new TooLate()), Math.max(0, until - performance.now()))
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

function answered(
  status: number,
  rest: Pick<AttemptResult, 'responseSnippet' | 'resolvedAddress' | 'retryAfterMs'>,
): AttemptResult {
  if (status < 300) return { ...rest, succeeded: true, responseStatus: status, errorKind: null, errorMessage: null }
  return status < 400
    ? failed('redirect', 'Redirects are not followed.', { ...rest, responseStatus: status })
    : failed('http_status', `The receiver answered ${status}.`, { ...rest, responseStatus: status })
}

const CERTIFICATE = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/

function broken(error: Error, resolvedAddress: string): AttemptResult {
  const code = String(
    (error as NodeJS.ErrnoException).code ?? (error.cause as NodeJS.ErrnoException | undefined)?.code ?? 'unknown',
  )
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT')
    return failed('timeout', 'No connection in time.', { resolvedAddress })
  if (code === 'UND_ERR_HEADERS_OVERFLOW' || code === 'HPE_HEADER_OVERFLOW')
    return failed('response_too_large', `The headers of the answer are over ${HEADERS_BYTES_MAX} bytes.`, {
      resolvedAddress,
    })
  if (CERTIFICATE.test(code)) return failed('tls', `The connection is not safe (${code}).`, { resolvedAddress })
  return failed('connect', `The connection failed (${code}).`, { resolvedAddress })
}

/** Decodes bytes as UTF-8 text for people; replaces control characters. */
function textOf(chunks: readonly Buffer[]): string | null {
  if (chunks.length === 0) return null
  return Buffer.concat(chunks)
    .toString('utf8')
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '\ufffd')
}
