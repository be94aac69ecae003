/**
 * JSON bodies: read by koa-body, then checked by the rules that JSON.parse does not have.
 *
 * - B1  UTF-8 only. Invalid bytes are decoded as U+FFFD, so a body with that character is refused.
 * - B2  No duplicate member: the text must contain exactly as many member colons as the parsed value has members.
 * - B3  At most 20 levels deep.
 * - B4  A member named `__proto__` is an ordinary (unknown) member and never changes a prototype.
 */
import type { Context } from 'koa'
import { koaBody } from 'koa-body'
import type { Party } from '../../lib/security/fair-share.ts'
import { refuse } from '../../lib/base/problems.ts'
import type { Arrivals } from '../access/arrivals.ts'
import type { Route } from '../route/route.ts'

/** Far above any single resource. Files have operations of their own, and batches declare their own maximum. */
const BODY_BYTES_MAX = 256 * 1024
const DEPTH_MAX = 20

const JSON_TYPE = 'application/json'
const REPLACEMENT_CHARACTER = '\ufffd'
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const SPACE = 0x20
const LAST_PRINTABLE = 0x7e

/** A parsed body. */
export interface JsonBody {
  readonly value: unknown
  /**
   * Whether any text in it is not plain printable ASCII, or has spaces at its ends; otherwise normalising changes
   * nothing.
   */
  readonly needsNormalising: boolean
}

/** What a missing body means where a body is optional: an object without members. */
export const NO_MEMBERS: JsonBody = { value: {}, needsNormalising: false }

function refuseJson(detail: string): never {
  refuse('malformed-request', detail)
}

/** Counts the colons between a member's name and its value, which are those outside strings. */
function countMemberColons(text: string): number {
  let colons = 0
  let index = 0
  const { length } = text
  while (index < length) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      let end = text.indexOf('"', index + 1)
      // A quote after an odd number of backslashes belongs to the string.
      while (text.charCodeAt(end - 1) === BACKSLASH) {
        let backslashes = 1
        while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++
        if (backslashes % 2 === 0) break
        end = text.indexOf('"', end + 1)
      }
      index = end
    } else if (code === COLON) {
      colons++
    }
    index++
  }
  return colons
}

function isPlain(text: string): boolean {
  const last = text.length - 1
  if (last < 0) return true
  for (let index = 0; index <= last; index++) {
    const code = text.charCodeAt(index)
    if (code < SPACE || code > LAST_PRINTABLE) return false
  }
  return text.charCodeAt(0) !== SPACE && text.charCodeAt(last) !== SPACE
}

// A single walk counts members, measures depth and checks for plain text. It runs to its end before other code can
// start, so module state is safe and saves an object per request.
let members = 0
let plain = true

function walk(value: unknown, depth: number): void {
  if (typeof value === 'string') {
    if (plain && !isPlain(value)) plain = false
    return
  }
  if (typeof value !== 'object' || value === null) return
  if (depth > DEPTH_MAX) refuseJson(`The JSON is nested more than ${DEPTH_MAX} levels deep.`)
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) walk(value[index], depth + 1)
    return
  }
  const object = value as Record<string, unknown>
  for (const name in object) {
    members++
    walk(object[name], depth + 1)
  }
}

/** Applies B1, B2 and B3 to a body that JSON.parse has accepted. */
export function inspectJson(text: string, value: unknown): JsonBody {
  if (text.includes(REPLACEMENT_CHARACTER)) refuseJson('The body is not UTF-8.')
  members = 0
  plain = true
  walk(value, 1)
  if (countMemberColons(text) !== members) refuseJson('The JSON has a member more than once in the same object.')
  return { value, needsNormalising: !plain }
}

const onError =
  (maxBytes: number) =>
  (error: Error, context: Context): void => {
    const { status, body } = error as Error & { status?: number; body?: unknown }
    if (status === 413) {
      refuse('payload-too-large', `The body may have at most ${maxBytes} bytes.`, { extra: { maxBytes } })
    }
    if (status === 415) {
      refuse('unsupported-media-type', 'The content encoding is not supported.', {
        extra: { supported: ['gzip', 'deflate', 'br', 'identity'] },
      })
    }
    // The client has left before or while its body was read, or the body does not match its Content-Encoding.
    const unread =
      typeof body !== 'string' &&
      (context.req.destroyed || (error as NodeJS.ErrnoException).code?.startsWith('Z_') === true)
    if (status !== 400 && !unread) throw error
    if (typeof body !== 'string') refuseJson('The body could not be read to its end.')
    // The parser refuses prototype names. JSON.parse makes them own members, which validation then names.
    try {
      context.request.body = JSON.parse(body)
      context.request.rawBody = body
    } catch {
      refuseJson('The body is not valid JSON.')
    }
  }

const createParser = (maxBytes: number) =>
  koaBody({
    json: true,
    text: false,
    urlencoded: false,
    multipart: false,
    jsonTypes: [JSON_TYPE],
    jsonLimit: maxBytes,
    // A text or a number is valid JSON; validation refuses a body that is not an object.
    jsonStrict: false,
    includeUnparsed: true,
    onError: onError(maxBytes),
  })
const parse = createParser(BODY_BYTES_MAX)
const done = async (): Promise<void> => {}

/**
 * Refuses every content type but JSON in UTF-8. `others` are types that the operation accepts too and reads elsewhere.
 */
export function checkContentType(header: string | undefined, others: readonly string[] = []): void {
  if (header === JSON_TYPE || header === undefined) return
  const [type = '', ...parameters] = header.toLowerCase().split(';')
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='))
  const utf8 = charset === undefined || charset === 'charset=utf-8' || charset === 'charset="utf-8"'
  if (type.trim() !== JSON_TYPE || !utf8) {
    refuseType(others)
  }
}

function refuseType(others: readonly string[]): never {
  refuse('unsupported-media-type', `The body must be ${[JSON_TYPE, ...others].join(' or ')}, JSON in UTF-8.`, {
    extra: { supported: [JSON_TYPE, ...others] },
  })
}

function hasBody({ headers }: Context['req']): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
}

/**
 * Reads and checks the body of a request. While the body arrives it takes a place of the party's share.
 *
 * @throws ProblemError when the body is invalid or arrives too slowly, or too many of the party's bodies are arriving
 */
export type ReadBody = (context: Context, party: Party) => Promise<JsonBody>

/** Makes the reader of the bodies of one route. */
export function createBodyReader(
  { bodyOptional, bodyBytesMax, form }: Pick<Route, 'bodyOptional' | 'bodyBytesMax' | 'form'>,
  arrivals: Arrivals,
): ReadBody {
  const parseBody = bodyBytesMax === undefined ? parse : createParser(bodyBytesMax)
  const others = form === undefined ? [] : ['multipart/form-data']
  async function read(context: Context, party: Party): Promise<JsonBody> {
    const { headers } = context.req
    if (!hasBody(context.req)) refuseJson('The operation needs a JSON body.')
    if (headers['content-type'] === undefined) refuseType(others)
    checkContentType(headers['content-type'], others)
    await arrivals.body(context.req, party, () => parseBody(context, done))
    const { rawBody, body } = context.request
    if (rawBody === undefined || rawBody === '') refuseJson('The operation needs a JSON body.')
    return inspectJson(rawBody, body)
  }
  return bodyOptional === true
    ? async (context, party) => (hasBody(context.req) ? await read(context, party) : NO_MEMBERS)
    : read
}
