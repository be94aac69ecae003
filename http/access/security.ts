/**
 * What answers tell browsers: never to guess a type, never to leak an address, to come by TLS, and which consoles may
 * read them.
 *
 * Origins are matched whole against a list; none is reflected, none is a pattern. An API key is no credential for a
 * browser, so a call that carries one gets no CORS headers whatever its origin.
 */
import type { Middleware } from 'koa'

/** A year, the least that browsers' preload lists take. */
const HSTS = 'max-age=31536000; includeSubDomains'
/** JSON shows nothing, runs nothing and is framed by nobody. */
const API_CONTENT_POLICY = `default-src 'none'; frame-ancestors 'none'`
/** How long a browser may remember what a preflight said, seconds; the longest that any honours. */
const PREFLIGHT_SECONDS = 7_200
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE'
const REQUEST_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-CSRF-Token, X-Request-Id, X-Tenant-Id'
const RESPONSE_HEADERS = 'Content-Disposition, Deprecation, ETag, Idempotency-Replayed, Link, Location, RateLimit, RateLimit-Policy, Retry-After, Sunset, X-Contract-Version, X-Request-Id'

export interface SecurityOptions {
  /** Where clients reach the service; null where it listens, which is not by TLS. */
  readonly publicUrl: string | null
  readonly consoleOrigins: readonly string[]
}

/** The headers of every answer, name and value in turn. */
export function securityHeaders({ publicUrl }: Pick<SecurityOptions, 'publicUrl'>, contentPolicy: string = API_CONTENT_POLICY): readonly string[] {
  const headers = ['X-Content-Type-Options', 'nosniff', 'Referrer-Policy', 'no-referrer', 'Content-Security-Policy', contentPolicy]
  if (publicUrl?.startsWith('https:') === true) headers.push('Strict-Transport-Security', HSTS)
  return headers
}

/** Gives answers their security headers, and registered origins leave to read them. */
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
      context.res.writeHead(204, [...allowed, 'Access-Control-Allow-Methods', METHODS, 'Access-Control-Allow-Headers', REQUEST_HEADERS,
        'Access-Control-Max-Age', `${PREFLIGHT_SECONDS}`, 'X-Request-Id', context.state['requestId'] as string]).end()
      return
    }
    context.state['headers'] = [...allowed, 'Access-Control-Expose-Headers', RESPONSE_HEADERS]
    return next()
  }
}

const carriesApiKey = (authorization: string | undefined): boolean => authorization !== undefined && /^bearer\s+svc_/i.test(authorization)
