/**
 * The Koa application: the list of what happens to a request, from top to bottom.
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
import { endpoint, type EndpointParts } from './endpoint.ts'
import { FailedCredentials } from '../access/failed-credentials.ts'
import type { Forwarding } from '../access/forwarding.ts'
import { sendProblem } from './problem.ts'
import type { RateLimits } from '../access/rate-limits.ts'
import { requestId } from '../access/request-id.ts'
import { accounting, type RequestLog } from '../access/request-log.ts'
import type { Route } from '../route/route.ts'
import { security, type SecurityOptions } from '../access/security.ts'
import type { Services } from '../route/services.ts'

const API_PREFIX = '/v1'
/** Of the request target. Long enough for a hundred ids in a filter. */
const TARGET_BYTES_MAX = 8 * 1024

const CLIENT_LEFT: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE'])

/** Turns everything that is thrown below it into a problem document. */
function problems(world: Services, arrivals: Arrivals): Middleware {
  return async (context, next) => {
    try {
      await next()
    } catch (error) {
      sendProblem(context, error, world)
      // Refused before it had arrived.
      arrivals.linger(context.req)
    }
  }
}

function limitTarget(): Middleware {
  return (context, next) => {
    // The target is ASCII on the wire, so characters are bytes.
    if (context.req.url !== undefined && context.req.url.length > TARGET_BYTES_MAX) {
      refuse('uri-too-long', `The request target may have at most ${TARGET_BYTES_MAX} bytes.`, { extra: { maxBytes: TARGET_BYTES_MAX } })
    }
    return next()
  }
}

/** What routers are divided by: the first word of a path and how many there are, `payments 2` of `/v1/payments/{paymentId}`. */
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

/** `/payments/{paymentId}` in the router's own notation. */
function routerPath(path: string): string {
  return path.replaceAll(/\{([^}]+)\}/g, ':$1')
}

/** Fixed words before parameters, so that `/recipients/requirements` is not taken for a recipient. */
function byFixedWordsFirst(left: Route, right: Route): number {
  const leftKey = left.path.replaceAll('{', '~')
  const rightKey = right.path.replaceAll('{', '~')
  return leftKey < rightKey ? -1 : leftKey > rightKey ? 1 : 0
}

/**
 * The table as middleware. @koa/router tries every route of a router in turn, so there is one router per resource and depth:
 * the cost of finding a route does not grow with the size of the API.
 */
function dispatch(routes: readonly Route[], parts: EndpointParts): Middleware {
  const routers = new Map<string, Router>()
  for (const route of routes.toSorted(byFixedWordsFirst)) {
    const division = divisionOf(route.path)
    const router = routers.get(division) ?? new Router({ strict: true, sensitive: true })
    routers.set(division, router)
    const plain = endpoint(route, parts)
    const middleware = (route.deprecated === undefined ? plain
      : deprecating(deprecationHeaders(route, route.deprecated, parts.world.problemBase), plain)) as unknown as RouterMiddleware
    const path = routerPath(route.path)
    router.register(API_PREFIX + path, [route.method], middleware)
    if (route.atRoot === true) router.register(path, [route.method], middleware)
  }
  const middlewares = new Map(Array.from(routers, ([division, router]) => [division, router.routes() as unknown as Middleware]))
  // `/recipients/requirements` is no recipient, also for the methods that only recipients have.
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

/** What no route took: 405 when the path exists with other methods, else 404. */
function unmatched(world: Services): Middleware {
  return (context) => {
    const layers = (context['matched'] ?? []) as readonly { readonly methods: readonly string[] }[]
    const methods = new Set(layers.flatMap((layer) => layer.methods))
    if (methods.size === 0) refuse('not-found', 'There is nothing at this address.')
    try {
      refuse('method-not-allowed', `${context.method} is not supported here.`)
    } catch (error) {
      sendProblem(context, error, world, ['Allow', [...methods].sort().join(', ')])
    }
  }
}

/** What a node has around its world. */
export interface AppOptions {
  readonly forwarding?: Forwarding | null
  readonly rateLimits?: RateLimits | null
  readonly requestLog?: RequestLog | null
  readonly security?: SecurityOptions
  /** Whose word is taken for where a request comes from. */
  readonly trustedProxies?: readonly string[]
  /** Where commands take their places; null takes as many as come. */
  readonly admission?: CommandPlaces | null
  /** Where requests wait while their bodies arrive. */
  readonly arrivals?: Arrivals
  /** Made from the world and the limits where none is given. */
  readonly authentication?: Authentication
}

/** Builds the application around a world. */
export function createApp(routes: readonly Route[], world: Services, options: AppOptions = {}): Koa {
  const { forwarding = null, rateLimits = null, requestLog = null, admission = null, arrivals = new Arrivals() } = options
  const authentication = options.authentication ?? createAuthentication(world, new FailedCredentials(rateLimits))
  const secured = options.security ?? { publicUrl: null, consoleOrigins: [] }
  const app = new Koa()
  // Only what goes wrong outside the middleware arrives here: clients that leave early, and bugs in sending itself.
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== undefined && CLIENT_LEFT.has(error.code)) world.log.info({ err: error }, 'the client left before its answer')
    else world.log.error({ err: error }, 'the answer could not be sent')
  })

  app.use(clientAddress(options.trustedProxies ?? []))
  app.use(accounting(requestLog, world.clock))
  app.use(requestId(world.ids))
  app.use(security(secured))
  app.use(problems(world, arrivals))
  app.use(limitTarget())
  if (forwarding !== null) app.use(forwarding.middleware)
  app.use(docs(secured))
  app.use(dispatch(routes, { world, rateLimits, authentication, admission, arrivals, cursors: createCursors(world.cursorKey), forwarding }))
  app.use(unmatched(world))
  return app
}
