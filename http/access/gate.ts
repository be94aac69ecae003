/**
 * The gate of a route: what a call passes when it is known who calls, and before anything else about it is looked at.
 * Its limits let it in or answer 429, and an account is opened for it that the way out closes (http/access/request-log.ts).
 */
import type { Context } from 'koa'
import { ProblemError } from '../../lib/base/problems.ts'
import type { RateLimits } from './rate-limits.ts'
import { POLICIES, type RoutePolicy } from '../route/rate-policies.ts'
import type { Account } from './request-log.ts'
import { pathParameters, type Route } from '../route/route.ts'

/** Who calls: a key, or a person who is signed in. */
export interface GateCaller {
  readonly kind: 'key' | 'session'
  readonly id: string
}

export interface Gate {
  /** For a call without a credential. @throws ProblemError `rate-limited` */
  anonymous(context: Context): void
  /** For a call by somebody; tenant is null where the operation belongs to none. @throws ProblemError `rate-limited` */
  authenticated(context: Context, caller: GateCaller, tenantId: string | null): void
  /** For a call that is refused for its tenant, which comes before its limits: it counts, but it is not what answers. */
  turnedAway(context: Context, caller: GateCaller, tenantId: string | null): void
}

/** Adds headers, name and value in turn, to whatever answers a request. */
export function addHeaders(context: Context, headers: readonly string[]): void {
  const before = context.state['headers'] as readonly string[] | undefined
  context.state['headers'] = before === undefined ? headers : [...before, ...headers]
}

/** Builds the gate of one route. Without limits it only opens accounts. */
export function createGate(route: Route, limits: RateLimits | null): Gate {
  const prepared = limits === null ? null : limits.prepare(route)
  // What a path names first is what the rest of it is within.
  const [resource] = pathParameters(route.path)
  const { limits: own } = route
  // Few limits ask where a call comes from or what it is about; the others need not find out.
  const placed = Array.isArray(own) && (own as RoutePolicy[]).some((policy) => ['address', 'resource'].includes(POLICIES[policy].partition))

  function authenticated(context: Context, { kind, id }: GateCaller, tenant: string | null): void {
    // Of a call that belongs to no tenant, whoever calls is one of their own.
    const tenantId = tenant ?? id
    const account: Account = { route, kind, principalId: id, tenantId, pass: null }
    context.state['account'] = account
    if (limits === null || prepared === null) return
    const place = placed ? { address: context.ip, resourceId: resource === undefined ? '' : (context['params'] as Record<string, string>)[resource] ?? '' } : undefined
    account.pass = limits.admit(prepared, account, context.querystring, (headers) => addHeaders(context, headers), place)
    if (account.pass !== null) addHeaders(context, account.pass.headers)
  }

  return {
    anonymous(context) {
      if (limits === null || prepared === null) return
      const pass = limits.admitAnonymous(prepared, context.ip, (headers) => addHeaders(context, headers))
      if (pass !== null) addHeaders(context, pass.headers)
    },

    authenticated,

    turnedAway(context, caller, tenantId) {
      try {
        authenticated(context, caller, tenantId)
      } catch (error) {
        // Its own refusal comes first.
        if (!(error instanceof ProblemError)) throw error
      }
    },
  }
}
