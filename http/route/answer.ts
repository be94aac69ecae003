/** The answers of routes: turns views into bytes, and sends them. */
import { pipeline } from 'node:stream/promises'
import type { Context } from 'koa'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { PAGE_LIMIT_MAX, type PageInfo } from '../../lib/contract/page.ts'
import type { Shown } from '../../lib/contract/shown.ts'
import type { CursorBinding } from '../../lib/contract/cursor.ts'
import { etagOf, listETag, matchesETag, resourceETag } from '../../lib/commands/etag.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import { type Answer, type AnswerBytes, type FileBytes, showing } from '../../lib/commands/answer.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { BoundListQuery } from '../../lib/contract/query.ts'

const JSON_TYPE = 'application/json'
const NO_STORE = 'no-store'
/** The client may store the answer but must revalidate it every time; that makes a 304 possible. */
const REVALIDATE = 'private, no-cache'

/** Answers with any JSON, without a tag. */
export function json<const Status extends number, View>(status: Status, view: View): Answer<View, Status> {
  return showing({ status, body: JSON.stringify(view), contentType: JSON_TYPE })
}

/** Answers with one resource and its tag. @throws ProblemError `not-found` for null */
export function resource<View>(found: Versioned<View> | null): Answer<View, 200>
export function resource<View, const Status extends number>(
  found: Versioned<View> | null,
  status: Status,
): Answer<View, Status>
export function resource<View>(found: Versioned<View> | null, status = 200): Answer<View, number> {
  if (found === null) refuseNotFound()
  const body = JSON.stringify(found.view)
  return showing({ status, body, contentType: JSON_TYPE, etag: etagOf(found, body) })
}

/** Cached answers of resources, by their view object. An entry lasts for as long as the reader keeps the object. */
const rendered = new WeakMap<object, Answer<unknown, 200>>()

/**
 * Answers with a resource whose reader returns the same object until it changes: its text and tag are made once. 404
 * for null.
 */
export function keptResource<View>(found: Versioned<View> | null): Answer<View, 200> {
  const known = found === null ? undefined : rendered.get(found)
  if (known !== undefined) return known as Answer<View, 200>
  const answer = resource(found)
  rendered.set(found as object, answer)
  return answer
}

/** Answers with a resource, its tag, and members that are shown only in this answer. */
export function resourceWith<View extends object, More extends object>(
  found: Versioned<View>,
  shown: More,
): Answer<View & More, 200> {
  const body = JSON.stringify({ ...found.view, ...shown })
  return showing({ status: 200, body, contentType: JSON_TYPE, etag: etagOf(found) })
}

/** Answers with a new resource, its tag and its location. */
export function created<View extends object>(found: Versioned<View>, location: string): Answer<View, 201>
/** Answers with a new resource, its tag and its location. `shown` adds members that are shown only in this answer. */
export function created<View extends object, More extends object>(
  found: Versioned<View>,
  location: string,
  shown: More,
): Answer<View & More, 201>
export function created<View extends object>(
  found: Versioned<View>,
  location: string,
  shown: object = {},
): Answer<View, 201> {
  const body = JSON.stringify({ ...found.view, ...shown })
  return showing({ status: 201, body, contentType: JSON_TYPE, etag: etagOf(found), location })
}

/** Answers with a file under a name, with its tag; 404 for null. The name is plain ASCII without quotes. */
export function document(
  found: { readonly version: number; readonly pdf: Uint8Array } | null,
  name: string,
): Answer<FileBytes, 200> {
  if (found === null) refuseNotFound()
  const { pdf, version } = found
  return showing({
    status: 200,
    body: pdf,
    contentType: 'application/pdf',
    etag: resourceETag(version, pdf),
    headers: ['Content-Disposition', `attachment; filename="${name}"`],
  })
}

/** Answers without a body. */
export function empty(): Answer<null, 204>
export function empty<const Status extends 202 | 204>(status: Status, headers?: readonly string[]): Answer<null, Status>
export function empty(status = 204, headers: readonly string[] = []): Answer<null, number> {
  return showing({ status, body: '', contentType: JSON_TYPE, headers })
}

/** Answers without a body or, to a partner that takes no other answer, with the one that it expects. */
export function expected<const Status extends 202>(
  status: Status,
  answer: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: string } | null,
): Answer<null, Status> {
  if (answer === null) return empty(status)
  const { 'content-type': contentType = JSON_TYPE, ...headers } = answer.headers
  return showing({ status: answer.status, body: answer.body, contentType, headers: Object.entries(headers).flat() })
}

/** The view of a page: its rows and the cursors of its neighbours. */
export interface PageView<Row> {
  readonly data: readonly Row[]
  readonly page: Shown<typeof PageInfo>
}

/** Answers with one page of a list; 404 when the parent resource does not exist. */
export function page<List, Row>(query: ListQuery<List>, result: ListResult<Row> | null): Answer<PageView<Row>, 200>
/** Answers with one page of a list; `beside` is added next to the rows. 404 when the parent resource does not exist. */
export function page<List, Row, Beside extends object>(
  query: ListQuery<List>,
  result: ListResult<Row> | null,
  beside: Beside,
): Answer<PageView<Row> & Beside, 200>
export function page<List, Row>(
  query: ListQuery<List>,
  result: ListResult<Row> | null,
  beside: object = {},
): Answer<PageView<Row>, 200> {
  if (result === null) refuseNotFound()
  const { cursors, binding, position, limit } = query as BoundListQuery<List>
  const { rows, keys, hasMore } = result
  const first = keys[0]
  const last = keys[rows.length - 1]
  const backwards = position?.direction === 'before'
  const next =
    last !== undefined && (backwards || hasMore) ? cursors.encode(binding, { direction: 'after', keys: last }) : null
  const previous =
    first !== undefined && position !== null && (!backwards || hasMore)
      ? cursors.encode(binding, { direction: 'before', keys: first })
      : null
  const body = JSON.stringify({
    data: rows,
    ...beside,
    page:
      result.total === undefined
        ? { nextCursor: next, prevCursor: previous, limit }
        : { nextCursor: next, prevCursor: previous, limit, total: result.total },
  })
  return showing({ status: 200, body, contentType: JSON_TYPE, etag: listETag(body) })
}

/**
 * Answers with rows that always fit one page; `whole` is all of them, the rows that are not shown included. The tag is
 * that of the whole, however the rows were asked for: `If-Match` of a change compares it with the whole.
 */
export function onePage<Row>(rows: readonly Row[], whole: Versioned<readonly Row[]>): Answer<PageView<Row>, 200> {
  const body = JSON.stringify({ data: rows, page: { nextCursor: null, prevCursor: null, limit: PAGE_LIMIT_MAX } })
  return showing({ status: 200, body, contentType: JSON_TYPE, etag: etagOf(whole) })
}

/** Cached answers of pages. A page is valid for the query to which its cursors are bound. */
const renderedPages = new WeakMap<object, { readonly binding: CursorBinding; readonly answer: Answer<unknown, 200> }>()

/** Answers with a page whose reader returns the same object until it changes: its text and tag are made once. */
export function keptPage<List, Row>(
  query: ListQuery<List>,
  result: ListResult<Row> | null,
): Answer<PageView<Row>, 200> {
  const known = result === null ? undefined : renderedPages.get(result)
  const { binding } = query as BoundListQuery<List>
  if (known?.binding === binding) return known.answer as Answer<PageView<Row>, 200>
  const answer = page(query, result)
  renderedPages.set(result as object, { binding, answer })
  return answer
}

/** Lists the headers of an answer to a command, name and value in turn, without those that middleware adds. */
export function commandHeaders(requestId: string, answer: AnswerBytes): string[] {
  const length = lengthOf(answer)
  return length === 0 && answer.status !== 200
    ? headersWithoutBody(requestId, answer, undefined)
    : headersOf(requestId, answer, { length, cacheControl: answer.cacheControl ?? NO_STORE, common: undefined })
}

const lengthOf = ({ stream, body }: AnswerBytes): number =>
  stream !== undefined ? stream.bytes : typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength

/** A status without a body has no Content-Type, and by RFC 9110 a 204 has no Content-Length either. */
function headersWithoutBody(
  requestId: string,
  { status, headers: own }: AnswerBytes,
  common: readonly string[] | undefined,
): string[] {
  const headers = ['Cache-Control', NO_STORE, 'X-Request-Id', requestId]
  if (status !== 204) headers.push('Content-Length', '0')
  if (common !== undefined) headers.push(...common)
  if (own !== undefined) headers.push(...own)
  return headers
}

function headersOf(
  requestId: string,
  answer: AnswerBytes,
  {
    length,
    cacheControl,
    common,
  }: { readonly length: number; readonly cacheControl: string; readonly common: readonly string[] | undefined },
): string[] {
  const { contentType, etag } = answer
  const headers = [
    'Content-Type',
    contentType,
    'Content-Length',
    `${length}`,
    'Cache-Control',
    cacheControl,
    'X-Request-Id',
    requestId,
  ]
  if (etag !== undefined) headers.push('ETag', etag)
  if (answer.location !== undefined) headers.push('Location', answer.location)
  if (answer.replayed === true) headers.push('Idempotency-Replayed', 'true')
  if (contentType === 'application/problem+json') headers.push('Content-Language', 'en')
  if (answer.headers !== undefined) headers.push(...answer.headers)
  if (common !== undefined) headers.push(...common)
  return headers
}

/**
 * Sends an answer. The headers are written in one array, without Koa's setters, which look up, check and copy each name
 * again: a POST takes 68 µs of CPU this way and 78 µs with the setters (54 µs for a bare echo on the same machine; half
 * of each is the socket). Headers that middleware set before are kept.
 */
export function send(context: Context, requestId: string, answer: AnswerBytes): void {
  const { res } = context
  context.respond = false
  const { etag, body } = answer
  // Headers of security, limits and deprecation, which every answer to this request carries, refusals included.
  const common = context.state['headers'] as readonly string[] | undefined
  const reading = context.method === 'GET' || context.method === 'HEAD'
  const cacheControl = answer.cacheControl ?? (etag !== undefined && reading ? REVALIDATE : NO_STORE)
  if (etag !== undefined && reading) {
    const known = context.req.headers['if-none-match']
    if (known !== undefined && matchesETag(known, etag)) {
      const headers = ['ETag', etag, 'Cache-Control', cacheControl, 'X-Request-Id', requestId]
      if (answer.headers !== undefined) headers.push(...answer.headers)
      if (common !== undefined) headers.push(...common)
      res.writeHead(304, headers).end()
      return
    }
  }
  const length = lengthOf(answer)
  if (length === 0 && answer.status !== 200) {
    res.writeHead(answer.status, headersWithoutBody(requestId, answer, common)).end()
    return
  }
  const headers = headersOf(requestId, answer, { length, cacheControl, common })
  if (answer.stream !== undefined) {
    res.writeHead(answer.status, headers)
    if (context.method === 'HEAD') res.end()
    // The connection is cut when the stream fails, so that half a file does not look complete. Koa logs the error.
    else
      pipeline(answer.stream.pieces, res).catch((error: unknown) => {
        context.app.emit('error', error, context)
      })
    return
  }
  // When bytes and characters are equally many, the text is ASCII and is sent without a conversion.
  if (typeof body === 'string' && length === body.length) res.writeHead(answer.status, headers).end(body, 'latin1')
  else res.writeHead(answer.status, headers).end(body)
}
