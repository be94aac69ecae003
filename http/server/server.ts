/** The HTTP server: refuses broken requests before they reach the application. */
import { MINUTE_MS } from '../../lib/base/clock.ts'
import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { FairShare } from '../../lib/security/fair-share.ts'
import type { Problem } from '../../lib/base/problems.ts'
import { problemBody, problemStatus } from '../../lib/base/problem-document.ts'
import { addressBlock } from '../access/address-block.ts'
import { asksForHandshake } from '../cluster/node-handshake.ts'
import type { Services } from '../route/services.ts'

/** Size of all header lines together, the request line included. */
const HEADER_BYTES_MAX = 16 * 1024
/** 16 KiB of headers arrive in one or two packets; a client that needs longer only occupies the connection. */
const HEADERS_TIMEOUT_MS = 10_000
/** Time for a body of 256 KiB over the slowest supported link; also ends clients that send one byte a minute. */
const REQUEST_TIMEOUT_MS = MINUTE_MS
/** How often connections are checked for both timeouts. */
const TIMEOUT_LOOK_MS = 1_000

/**
 * Connections at a time. Each takes a file descriptor and some 10 KB. When this many are open, an address that holds
 * more than its share gets no further connection. Other addresses still get connections up to the ceiling, so a client
 * that opens thousands keeps no others out.
 */
const CONNECTIONS_MAX = 4_096
const CONNECTIONS_CEILING_TIMES = 3

/**
 * Longer than the idle time of common load balancers (60 s), so that this service never closes a connection just as a
 * request begins.
 */
const KEEP_ALIVE_MS = 65_000

function problemOf(code: string | undefined): Problem {
  return code === 'HPE_HEADER_OVERFLOW'
    ? { slug: 'headers-too-large', detail: `The header block may have at most ${HEADER_BYTES_MAX} bytes.` }
    : { slug: 'malformed-request', detail: 'The request is not valid HTTP.' }
}

/** Time limits for clients, and the number of connections; only tests set lower ones. */
export interface Patience {
  readonly connectionsMax?: number
  readonly headersTimeoutMs?: number
  readonly requestTimeoutMs?: number
  readonly lookMs?: number
}

/**
 * Creates an HTTP server that answers broken HTTP with problem documents. It does not listen yet; its owner answers the
 * requests (event `request`).
 */
export function createHttpServer(services: Pick<Services, 'ids' | 'problemBase'>, patience: Patience = {}): Server {
  const {
    headersTimeoutMs = HEADERS_TIMEOUT_MS,
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
    lookMs = TIMEOUT_LOOK_MS,
    connectionsMax = CONNECTIONS_MAX,
  } = patience
  const server: Server = createServer({
    // Other requests to change the protocol are answered as if they had not asked.
    shouldUpgradeCallback: (request) => server.listenerCount('upgrade') > 0 && asksForHandshake(request),
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    connectionsCheckingInterval: lookMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
  })
  const connections = new FairShare(connectionsMax * CONNECTIONS_CEILING_TIMES)
  server.on('connection', (socket: Socket) => {
    const party = { group: addressBlock(socket.remoteAddress ?? ''), member: '' }
    if (connections.refuses(connectionsMax, party)) {
      socket.destroy()
      return
    }
    connections.enter(party)
    socket.once('close', () => connections.leave(party))
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // A connection that was opened in advance and never used is closed without an answer: a load balancer would take an
    // answer for that of the request it is about to send.
    if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
      socket.destroy()
      return
    }
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
      socket.end('HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
      return
    }
    const problem = problemOf(error.code)
    const requestId = services.ids.next()
    // The request could not be parsed, not even its path.
    const body = problemBody(problem, { problemBase: services.problemBase, instance: '/', requestId })
    socket.end(
      [
        `HTTP/1.1 ${problemStatus(problem)} ${problem.slug === 'headers-too-large' ? 'Request Header Fields Too Large' : 'Bad Request'}`,
        'Connection: close',
        'Content-Type: application/problem+json',
        'Content-Language: en',
        'Cache-Control: no-store',
        `X-Request-Id: ${requestId}`,
        `Content-Length: ${Buffer.byteLength(body)}`,
        '',
        body,
      ].join('\r\n'),
    )
  })
  return server
}
