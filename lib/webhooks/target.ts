/**
 * The addresses that callbacks may go to: public ones only, because the service could otherwise be used to reach hosts
 * inside its own network.
 *
 * Two checks, because a host name does not tell its address. `checkTarget` parses the URL as the HTTP client does
 * (every spelling of an address, `0x7f.1` or `①②⑦.0.0.1`, is then the same address). `isPublicAddress` checks each
 * address that a name resolves to, before every delivery, and the connection is made to a checked address.
 */
import ipaddr from 'ipaddr.js'

/** `any` is for a developer's own machine: it also allows loopback, private addresses and plain http. */
export type TargetPolicy = 'public' | 'any'

export type TargetRule = 'scheme' | 'credentials' | 'fragment' | 'port' | 'host_name' | 'address'

export type Target =
  | { readonly kind: 'ok'; readonly url: URL; readonly host: string; readonly address: string | null }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'unsafe'; readonly rule: TargetRule; readonly detail: string }

/** Lower ports belong to other services, which could take a callback for a command; 443 is the port of https. */
const PORT_MIN = 1024
const HTTPS_PORT = 443

/** Names of internal hosts: by convention, by standard, or because a resolver completes them. */
const INTERNAL_NAMES =
  /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|home\.arpa|arpa|onion)$/

const unsafe = (rule: TargetRule, detail: string): Target => ({ kind: 'unsafe', rule, detail })

/**
 * Checks a URL without resolving it. `address` is set when the host is an address; a name must still be resolved and
 * checked.
 */
export function checkTarget(text: string, policy: TargetPolicy): Target {
  if (!URL.canParse(text)) return { kind: 'unreadable' }
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(policy === 'any' && url.protocol === 'http:'))
    return unsafe('scheme', 'The address must begin with https://.')
  if (url.username !== '' || url.password !== '')
    return unsafe('credentials', 'The address must not carry credentials.')
  // An empty fragment is not visible in the parsed URL.
  if (url.hash !== '' || text.includes('#')) return unsafe('fragment', 'The address must not have a fragment.')
  const port = url.port === '' ? HTTPS_PORT : Number(url.port)
  if (policy === 'public' && port !== HTTPS_PORT && port < PORT_MIN)
    return unsafe('port', `The port must be ${HTTPS_PORT}, or ${PORT_MIN} and above.`)
  // A dot at the end makes a name absolute; the name is the same.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  if (ipaddr.isValid(host)) {
    return policy === 'any' || isPublicAddress(host)
      ? { kind: 'ok', url, host, address: host }
      : unsafe('address', 'The address is not public.')
  }
  if (policy === 'public' && (!host.includes('.') || INTERNAL_NAMES.test(host)))
    return unsafe('host_name', 'The host name is not public.')
  if (host === '' || host.includes('..')) return unsafe('host_name', 'The host name is not public.')
  return { kind: 'ok', url, host, address: null }
}

/** A public address that the host of our own virtual machine answers. */
const METADATA: readonly [ipaddr.IPv4, number][] = [[ipaddr.IPv4.parse('168.63.129.16'), 32]]
/** All addresses that the internet routes over IPv6 begin with the bits 001. */
const IPV6_GLOBAL: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]
const DOCUMENTATION: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('3fff::'), 20]
/** Assigned to protocols such as Teredo: never a server's own address. */
const PROTOCOLS: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2001::'), 23]
/** The interface identifier of ISATAP; an IPv4 address follows it. */
const ISATAP = [0x0000, 0x5efe] as const
const ISATAP_GLOBAL_BIT = 0x0200

/**
 * Tells whether an address is a server on the public internet. An address that contains another one (IPv4 in IPv6,
 * NAT64, 6to4, Teredo, ISATAP) is not: no receiver has such an address, and its destination is decided on the way.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text) || text.includes('%')) return false
  const address = ipaddr.parse(text)
  if (address.range() !== 'unicast') return false
  if (address instanceof ipaddr.IPv4) return !METADATA.some((block) => address.match(block))
  const v6 = address as ipaddr.IPv6
  if (!v6.match(IPV6_GLOBAL) || v6.match(DOCUMENTATION) || v6.match(PROTOCOLS)) return false
  return !(((v6.parts[4] as number) & ~ISATAP_GLOBAL_BIT) === ISATAP[0] && v6.parts[5] === ISATAP[1])
}
