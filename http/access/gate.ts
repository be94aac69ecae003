/**
 * The gate of a route: passed when the caller is known, before the rest of the call is checked. The limits admit the
 * call or answer 429, and an account is opened for it, which is closed when the call is answered
 * (http/access/request-log.ts).
 */
import type { Context } from 'koa'
import { ProblemError } from '../../lib/base/problems.ts'
import type { RateLimits } from './rate-limits.ts'
import { POLICIES, type RoutePolicy } from '../route/rate-policies.ts'
import type { AuthenticatedCall } from './request-log.ts'
import { pathParameters, type Route } from '../route/route.ts'

/** An authenticated caller: a key, or a signed-in person. */
export interface GateCaller {
  readonly kind: 'key' | 'session'
  readonly id: string
}

/** The gate of one route. */
export interface Gate {
  /** Checks a call without a credential. @throws ProblemError `rate-limited` */
  anonymous(context: Context): void
  /**
   * Checks a call with a credential; tenantId is null where the operation has no tenant.
   *
   * @throws ProblemError `rate-limited`
   */
  authenticated(context: Context, caller: GateCaller, tenantId: string | null): void
  /**
   * Counts a call that is refused because of its tenant. Its limits never answer it, because the tenant's refusal comes
   * first.
   */
  turnedAway(context: Context, caller: GateCaller, tenantId: string | null): void
}

/** Adds headers, name and value in turn, to the answer of a request, whichever code sends it. */
export function addHeaders(context: Context, headers: readonly string[]): void {
  const before = context.state['headers'] as readonly string[] | undefined
  context.state['headers'] = before === undefined ? headers : [...before, ...headers]
}

/** Builds the gate of one route. Without limits it only opens accounts. */
export function createGate(route: Route, limits: RateLimits | null): Gate {
  const prepared = limits === null ? null : limits.prepare(route)
  // The first parameter of a path is the resource that contains the rest.
  const [resource] = pathParameters(route.path)
  const { limits: own } = route
  // Only few limits use the client's address or the resource, so these are read only for routes with such a limit.
  const placed =
    Array.isArray(own) &&
    (own as RoutePolicy[]).some((policy) => ['address', 'resource'].includes(POLICIES[policy].partition))

  function authenticated(context: Context, { kind, id }: GateCaller, tenant: string | null): void {
    // A call without a tenant is counted under its caller.
    const tenantId = tenant ?? id
    const account: AuthenticatedCall = { route, kind, principalId: id, tenantId, pass: null }
    context.state['account'] = account
    if (limits === null || prepared === null) return
    const place = placed
      ? {
          address: context.ip,
          resourceId: resource === undefined ? '' : ((context['params'] as Record<string, string>)[resource] ?? ''),
        }
      : undefined
    account.pass = limits.admit(
      prepared,
      account,
      context.querystring,
      (headers) => addHeaders(context, headers),
      place,
    )
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
        // The refusal for the tenant takes precedence over a refusal by the limits.
        if (!(error instanceof ProblemError)) throw error
      }
    },
  }
}
