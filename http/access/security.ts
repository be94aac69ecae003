/**
 * Security headers: they tell browsers never to guess a type, never to send a referrer, to use TLS, and which consoles
 * may read the answers.
 *
 * Origins are compared whole with a list; no origin is reflected, and none is a pattern. An API key is not a credential
 * for browsers, so a call with one gets no CORS headers, whatever its origin.
 */
import type { Middleware } from 'koa'

/** A year, the least that browsers' preload lists accept. */
const HSTS = 'max-age=31536000; includeSubDomains'
/** JSON displays nothing, runs nothing and must not be framed. */
const API_CONTENT_POLICY = `default-src 'none'; frame-ancestors 'none'`
/** How long a browser may cache the answer to a preflight, seconds; the longest time that any browser uses. */
const PREFLIGHT_SECONDS = 7_200
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const REQUEST_HEADERS =
  'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-CSRF-Token, X-Request-Id, X-Tenant-Id'
const RESPONSE_HEADERS =
  'Content-Disposition, Deprecation, ETag, Idempotency-Replayed, Link, Location, RateLimit, ' +
  'RateLimit-Policy, Retry-After, Sunset, X-Contract-Version, X-Request-Id'

/** Settings of the security headers. */
export interface SecurityOptions {
  /** Address at which clients reach the service; null where that is the address it listens on, which has no TLS. */
  readonly publicUrl: string | null
  readonly consoleOrigins: readonly string[]
}

/** Builds the headers of every answer, name and value in turn. */
export function securityHeaders(
  { publicUrl }: Pick<SecurityOptions, 'publicUrl'>,
  contentPolicy: string = API_CONTENT_POLICY,
): readonly string[] {
  const headers = [
    'X-Content-Type-Options',
    'nosniff',
    'Referrer-Policy',
    'no-referrer',
    'Content-Security-Policy',
    contentPolicy,
  ]
  if (publicUrl?.startsWith('https:') === true) headers.push('Strict-Transport-Security', HSTS)
  return headers
}

/** Adds the security headers to answers, and permits registered origins to read them. */
export function security(options: SecurityOptions): Middleware {
  const common = securityHeaders(options)
  const origins = new Set(options.consoleOrigins)
  if (origins.size === 0) {
    return (context, next) => {
      context.state['headers'] = common
      return next()
    }
  }
  const varying = [...common, 'Vary', 'Origin']
  return (context, next) => {
    const { origin, authorization } = context.req.headers
    context.state['headers'] = varying
    if (origin === undefined || !origins.has(origin) || carriesApiKey(authorization)) return next()
    const allowed = [...varying, 'Access-Control-Allow-Origin', origin, 'Access-Control-Allow-Credentials', 'true']
    if (context.method === 'OPTIONS' && context.req.headers['access-control-request-method'] !== undefined) {
      context.respond = false
      context.res
        .writeHead(204, [
          ...allowed,
          'Access-Control-Allow-Methods',
          METHODS,
          'Access-Control-Allow-Headers',
          REQUEST_HEADERS,
          'Access-Control-Max-Age',
          `${PREFLIGHT_SECONDS}`,
          'X-Request-Id',
          context.state['requestId'] as string,
        ])
        .end()
      return
    }
    context.state['headers'] = [...allowed, 'Access-Control-Expose-Headers', RESPONSE_HEADERS]
    return next()
  }
}

const carriesApiKey = (authorization: string | undefined): boolean =>
  authorization !== undefined && /^bearer\s+svc_/i.test(authorization)
