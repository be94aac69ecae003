/**
 * The address of a request's client. Behind load balancers the connection's address is that of a balancer, so
 * X-Forwarded-For is read, from its end, for as long as the entry before was written by a trusted balancer. Entries by
 * other senders are not believed.
 */
import { isIP } from 'node:net'
import type { Context, Middleware } from 'koa'
import type { Source } from '../../lib/commands/caller.ts'
import { compileAllowlist, isAddress, isAllowed, plainAddress } from '../../lib/security/ip-allowlist.ts'

/** Addresses read at most: a chain of balancers is short, but a header may be long. */
const HOPS_MAX = 16
/** Length of a browser's user agent; stored with sessions and shown to their owners. */
const USER_AGENT_MAX = 256

/** Reads an address as balancers write it, some with a port; null when the text is not an address. */
function addressOf(hop: string): string | null {
  const text = hop.trim()
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  return isAddress(address) ? plainAddress(address) : null
}

/** Sets the client's address on requests. `trusted` are addresses and CIDR blocks; an empty list changes nothing. */
export function clientAddress(trusted: readonly string[]): Middleware {
  const proxies = compileAllowlist(trusted)
  if (proxies === null) return (_context, next) => next()
  return (context, next) => {
    let address = plainAddress(context.req.socket.remoteAddress ?? '')
    if (isIP(address) !== 0 && isAllowed(proxies, address)) {
      const hops = ((context.req.headers['x-forwarded-for'] as string | undefined) ?? '')
        .split(',')
        .slice(-HOPS_MAX)
        .reverse()
      for (const hop of hops) {
        const before = addressOf(hop)
        if (before === null) break
        address = before
        if (!isAllowed(proxies, address)) break
      }
      context.request.ip = address
    }
    return next()
  }
}

/** The origin of a request, as sessions and the audit trail keep it. */
export const sourceOf = (context: Context): Source => sourceFrom(context.ip, context.req.headers['user-agent'] ?? null)

/** The same of an address and a user agent. */
export const sourceFrom = (address: string, userAgent: string | null): Source => ({
  address: plainAddress(address),
  userAgent: userAgent === null ? null : userAgent.slice(0, USER_AGENT_MAX),
})
