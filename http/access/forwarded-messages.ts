/**
 * The parts of a forwarded request and of its answer that are sent and signed: the headers that operations read, the
 * envelope with the caller, and the texts that the signatures cover.
 */
import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Context } from 'koa'
import type { CallerIdentity } from './caller-identity.ts'
import { NODE_ANSWER_HEADER } from './node-connections.ts'

/** The header with the envelope: caller, remaining patience and digest of the body, as base64url of JSON. */
export const CALLER_HEADER = 'x-vostro-caller'
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
/** Data sent with a forwarded request, beside headers and body. */
export interface Envelope {
  readonly caller: CallerIdentity
  /** The client's address, as seen by the node that the request reached. */
  readonly address: string
  readonly patienceMs: number
  /** SHA-256 of the body in hexadecimal; of zero bytes when there is no body. */
  readonly bodySha256: string
}

/** Encodes the envelope for its header. */
export const encodeEnvelope = (envelope: Envelope): string =>
  Buffer.from(JSON.stringify(envelope)).toString('base64url')

/** Decodes an envelope whose signature was checked. */
export const decodeEnvelope = (text: string): Envelope => JSON.parse(Buffer.from(text, 'base64url').toString())

/** SHA-256 of a body in hexadecimal; null means a request without a body. */
export const digestOf = (body: string | null): string => hash('sha256', body ?? '', 'hex')

/** Selects the headers of a request that are forwarded, by name; none carries a credential. */
export function forwardedHeaders({ req, state }: Context): Record<string, string> {
  const sent: Record<string, string> = {}
  for (const name of FORWARDED_HEADERS) {
    const value = name === 'x-request-id' ? (state['requestId'] as string) : (req.headers[name] as string | undefined)
    if (value !== undefined) sent[name] = value
  }
  return sent
}

/**
 * Lists the parts that a request's signature covers: home, time, operation, caller, headers, and digest of the body.
 */
export function requestParts(
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

export type HeaderPair = readonly [name: string, value: string]

/** Pairs up headers that are given as name and value in turn. */
export function pairsOf(headers: readonly string[]): HeaderPair[] {
  const pairs: HeaderPair[] = []
  for (let at = 0; at < headers.length; at += 2) pairs.push([headers[at] as string, headers[at + 1] as string])
  return pairs
}

/** Selects the headers of an answer that are passed on to the client. */
export function endToEnd(headers: IncomingHttpHeaders): HeaderPair[] {
  const pairs: HeaderPair[] = []
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || HOP_HEADERS.has(name)) continue
    for (const one of Array.isArray(value) ? value : [value]) pairs.push([name, one])
  }
  return pairs
}

/** Lists the parts that an answer's signature covers beside the body: the request's nonce, status and headers. */
export const answerParts = (nonce: string, status: number, pairs: readonly HeaderPair[]): string[] => [
  nonce,
  `${status}`,
  ...signedLines(pairs),
]

/** Writes headers in one order and one case, so that sender and receiver sign the same text. */
function signedLines(pairs: readonly HeaderPair[]): string[] {
  return pairs.map(([name, value]) => `${name.toLowerCase()}:${value}`).sort()
}
