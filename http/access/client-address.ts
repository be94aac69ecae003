/**
 * Where a request comes from. Behind load balancers every connection is theirs, so what they say in X-Forwarded-For is read,
 * from its end, for as long as it was written by one of them. What anybody else says there is a claim, and nothing more.
 */
import { isIP } from 'node:net'
import type { Middleware } from 'koa'
import { compileAllowlist, isAllowed, plainAddress } from '../../lib/security/ip-allowlist.ts'

/** Addresses looked at; a chain of balancers is short, and a header may be long. */
const HOPS_MAX = 16

/** An address as balancers write it, some of them with a port; null when it is none. */
function addressOf(hop: string): string | null {
  const text = hop.trim()
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  return isIP(address) === 0 || address.includes('%') ? null : plainAddress(address)
}

/** Gives requests the address of their client. `trusted` are addresses and CIDR blocks; with none it does nothing. */
export function clientAddress(trusted: readonly string[]): Middleware {
  const proxies = compileAllowlist(trusted)
  if (proxies === null) return (_context, next) => next()
  return (context, next) => {
    let address = plainAddress(context.req.socket.remoteAddress ?? '')
    if (isIP(address) !== 0 && isAllowed(proxies, address)) {
      const hops = (context.req.headers['x-forwarded-for'] as string | undefined ?? '').split(',').slice(-HOPS_MAX).reverse()
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
