/**
 * The Koa application: the steps that a request passes, from first to last.
 */
import Router, { type RouterMiddleware } from '@koa/router'
import Koa, { type Middleware } from 'koa'
import { refuse } from '../../lib/base/problems.ts'
import type { CommandPlaces } from '../access/admission.ts'
import { Arrivals } from '../access/arrivals.ts'
import { createAuthentication, type Authentication } from '../access/authentication.ts'
import { clientAddress } from '../access/client-address.ts'
import { createCursors } from '../../lib/contract/cursor.ts'
import { deprecating, deprecationHeaders } from './deprecation.ts'
import { docs } from '../openapi/docs.ts'
import { Endpoint, type EndpointParts } from './endpoint.ts'
import type { Page } from '../pages/page.ts'
import { pages } from '../pages/pages.ts'
import { FailedCredentials } from '../access/failed-credentials.ts'
import type { Forwarding } from '../cluster/forwarding.ts'
import { sendProblem } from './problem.ts'
import type { RateLimits } from '../access/rate-limits.ts'
import { requestId } from '../access/request-id.ts'
import { accounting, type RequestLog } from '../access/request-log.ts'
import type { Route } from '../route/route.ts'
import { security, type SecurityOptions } from '../access/security.ts'
import type { Services } from '../route/services.ts'

const API_PREFIX = '/v1'
/** Size of the request target: long enough for a hundred ids in a filter. */
const TARGET_BYTES_MAX = 8 * 1024

const CLIENT_LEFT: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE'])

/** Turns every error thrown by later middleware into a problem document. */
function problems(services: Services, arrivals: Arrivals): Middleware {
  return async (context, next) => {
    try {
      await next()
    } catch (error) {
      sendProblem(context, error, services)
      // The request may have been refused before its body had arrived.
      arrivals.linger(context.req)
    }
  }
}

function limitTarget(): Middleware {
  return (context, next) => {
    // The request target is ASCII, so characters are bytes.
    if (context.req.url !== undefined && context.req.url.length > TARGET_BYTES_MAX) {
      refuse('uri-too-long', `The request target may have at most ${TARGET_BYTES_MAX} bytes.`, {
        extra: { maxBytes: TARGET_BYTES_MAX },
      })
    }
    return next()
  }
}

/**
 * The key by which routers are divided: the first segment of a path and the number of segments, `payments 2` for
 * `/v1/payments/{paymentId}`.
 */
function divisionOf(path: string): string {
  const start = path.startsWith(`${API_PREFIX}/`) ? API_PREFIX.length + 1 : 1
  let words = 1
  let end = path.length
  for (let at = path.indexOf('/', start); at !== -1; at = path.indexOf('/', at + 1)) {
    if (words === 1) end = at
    words += 1
  }
  return `${path.slice(start, end)} ${words}`
}

/** Writes `/payments/{paymentId}` in the router's notation. */
function routerPath(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ':$1')
}

/** Sorts fixed segments before parameters, so that `/recipients/requirements` is not matched as a recipient's id. */
function byFixedWordsFirst(left: Route, right: Route): number {
  const leftKey = left.path.replaceAll('{', '~')
  const rightKey = right.path.replaceAll('{', '~')
  return leftKey < rightKey ? -1 : leftKey > rightKey ? 1 : 0
}

/**
 * Turns the route table into middleware. @koa/router tries every route of a router in turn, so there is one router for
 * each resource and depth: the cost of finding a route does not grow with the size of the API.
 */
function dispatch(routes: readonly Route[], endpoints: ReadonlyMap<Route, Endpoint>, problemBase: string): Middleware {
  const routers = new Map<string, Router>()
  for (const route of routes.toSorted(byFixedWordsFirst)) {
    const division = divisionOf(route.path)
    const router = routers.get(division) ?? new Router({ strict: true, sensitive: true })
    routers.set(division, router)
    const plain = (endpoints.get(route) as Endpoint).middleware
    const middleware = (route.deprecated === undefined
      ? plain
      : deprecating(deprecationHeaders(route, route.deprecated, problemBase), plain)) as unknown as RouterMiddleware
    const path = routerPath(route.path)
    router.register(API_PREFIX + path, [route.method], middleware)
    if (route.atRoot === true) router.register(path, [route.method], middleware)
  }
  const middlewares = new Map(
    Array.from(routers, ([division, router]) => [division, router.routes() as unknown as Middleware]),
  )
  // `/recipients/requirements` is never a recipient, not even for methods that only recipients have.
  const fixed = new Map<string, Set<string>>()
  for (const { path, method, atRoot } of routes) {
    if (path.includes('{')) continue
    for (const whole of atRoot === true ? [path, API_PREFIX + path] : [API_PREFIX + path]) {
      fixed.set(whole, (fixed.get(whole) ?? new Set()).add(method.toUpperCase()))
    }
  }
  return (context, next) => {
    const methods = fixed.get(context.path)
    if (methods !== undefined && !methods.has(context.method) && !(context.method === 'HEAD' && methods.has('GET'))) {
      context['matched'] = [{ methods: methods.has('GET') ? [...methods, 'HEAD'] : [...methods] }]
      return next()
    }
    const middleware = middlewares.get(divisionOf(context.path))
    return middleware === undefined ? next() : middleware(context, next)
  }
}

/** Answers requests that no route matched: 405 when the path exists with other methods, else 404. */
function unmatched(services: Services): Middleware {
  return (context) => {
    const layers = (context['matched'] ?? []) as readonly { readonly methods: readonly string[] }[]
    const methods = new Set(layers.flatMap((layer) => layer.methods))
    if (methods.size === 0) refuse('not-found', 'No operation has this path.')
    try {
      refuse('method-not-allowed', `${context.method} is not supported here.`)
    } catch (error) {
      sendProblem(context, error, services, ['Allow', [...methods].sort().join(', ')])
    }
  }
}

/** The parts of a node around its services. */
export interface AppOptions {
  readonly forwarding?: Forwarding | null
  readonly rateLimits?: RateLimits | null
  readonly requestLog?: RequestLog | null
  readonly security?: SecurityOptions
  /** Proxies whose X-Forwarded-For is believed: addresses and CIDR blocks. */
  readonly trustedProxies?: readonly string[]
  /** The places of commands under way; null accepts any number. */
  readonly admission?: CommandPlaces | null
  /** Holds requests while their bodies arrive. */
  readonly arrivals?: Arrivals
  /** The pages for people; none by default. */
  readonly pages?: readonly Page[]
  /** Built from the services and the limits by default. */
  readonly authentication?: Authentication
}

/** Builds the application around the services. */
export function createApp(routes: readonly Route[], services: Services, options: AppOptions = {}): Koa {
  const {
    forwarding = null,
    rateLimits = null,
    requestLog = null,
    admission = null,
    arrivals = new Arrivals(),
  } = options
  const authentication = options.authentication ?? createAuthentication(services, new FailedCredentials(rateLimits))
  const secured = options.security ?? { publicUrl: null, consoleOrigins: [] }
  const app = new Koa()
  // Only errors outside the middleware arrive here: clients that leave early, and bugs in sending itself.
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== undefined && CLIENT_LEFT.has(error.code))
      services.log.info({ err: error }, 'the client left before its answer')
    else services.log.error({ err: error }, 'the answer could not be sent')
  })

  app.use(clientAddress(options.trustedProxies ?? []))
  app.use(accounting(requestLog, services.clock))
  app.use(requestId(services.ids))
  app.use(security(secured))
  app.use(problems(services, arrivals))
  app.use(limitTarget())
  app.use(docs(secured))
  app.use(
    pages(options.pages ?? [], {
      services,
      rateLimits,
      admission,
      arrivals,
      security: secured,
      brandOf: (tenantId) => (tenantId === null ? services.branding.onlyBrand() : services.branding.brand(tenantId)),
    }),
  )
  const parts: EndpointParts = {
    services,
    rateLimits,
    authentication,
    admission,
    arrivals,
    cursors: createCursors(services.cursorKey),
    forwarding,
  }
  const endpoints = new Map(routes.map((route) => [route, new Endpoint(route, parts)]))
  const atHome = new Map(
    Array.from(endpoints)
      .filter(([, endpoint]) => endpoint.goesHome)
      .map(([{ operationId }, endpoint]) => [operationId, endpoint]),
  )
  forwarding?.serve((command) => atHome.get(command.operationId)?.carryOut(command) ?? null)
  app.use(dispatch(routes, endpoints, services.problemBase))
  app.use(unmatched(services))
  return app
}
