/**
 * Where callbacks may go: public addresses only, or the service could be made to knock on doors inside its own network.
 *
 * Two checks, because a name says nothing about where it leads. `checkTarget` reads the URL as the client that will use it
 * does (every spelling of an address, `0x7f.1` or `①②⑦.0.0.1`, is the same address after that); `isPublicAddress` judges each
 * address that a name leads to, before every delivery, and the connection is made to an address that was judged.
 */
import ipaddr from 'ipaddr.js'

/** `any` is for a developer's own machine: loopback, private addresses and plain http as well. */
export type TargetPolicy = 'public' | 'any'

export type TargetRule = 'scheme' | 'credentials' | 'fragment' | 'port' | 'host_name' | 'address'

export type Target =
  | { readonly kind: 'ok'; readonly url: URL; readonly host: string; readonly address: string | null }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'unsafe'; readonly rule: TargetRule; readonly detail: string }

/** Ports below are those of other services, which would take our words for theirs; 443 is the one of https. */
const PORT_MIN = 1024
const HTTPS_PORT = 443

/** Names that lead nowhere but inside: by convention, by standard, or because a resolver fills them in by itself. */
const INTERNAL_NAMES = /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|private|corp|home|lan|home\.arpa|arpa|onion)$/

const unsafe = (rule: TargetRule, detail: string): Target => ({ kind: 'unsafe', rule, detail })

/** Judges a URL by itself. `address` is set when its host is one; a name still has to be resolved and judged. */
export function checkTarget(text: string, policy: TargetPolicy): Target {
  if (!URL.canParse(text)) return { kind: 'unreadable' }
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(policy === 'any' && url.protocol === 'http:')) return unsafe('scheme', 'The address must begin with https://.')
  if (url.username !== '' || url.password !== '') return unsafe('credentials', 'The address must not carry credentials.')
  // An empty one leaves no trace in the parsed URL.
  if (url.hash !== '' || text.includes('#')) return unsafe('fragment', 'The address must not have a fragment.')
  const port = url.port === '' ? HTTPS_PORT : Number(url.port)
  if (policy === 'public' && port !== HTTPS_PORT && port < PORT_MIN) return unsafe('port', `The port must be ${HTTPS_PORT}, or ${PORT_MIN} and above.`)
  // The dot at the end makes a name absolute; it is the same name.
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  if (ipaddr.isValid(host)) {
    return policy === 'any' || isPublicAddress(host) ? { kind: 'ok', url, host, address: host } : unsafe('address', 'The address is not a public one.')
  }
  if (policy === 'public' && (!host.includes('.') || INTERNAL_NAMES.test(host))) return unsafe('host_name', 'The host name is not a public one.')
  if (host === '' || host.includes('..')) return unsafe('host_name', 'The host name is not a public one.')
  return { kind: 'ok', url, host, address: null }
}

/** Public by number, but answered by the machine that our own virtual machine runs on. */
const METADATA: readonly [ipaddr.IPv4, number][] = [[ipaddr.IPv4.parse('168.63.129.16'), 32]]
/** Everything that the internet routes over IPv6 begins with 001. */
const IPV6_GLOBAL: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3]
const DOCUMENTATION: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('3fff::'), 20]
/** Assigned to protocols, Teredo among them: never a server's own address. */
const PROTOCOLS: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2001::'), 23]
/** The interface identifier of ISATAP: an IPv4 address follows. */
const ISATAP = [0x0000, 0x5efe] as const
const ISATAP_GLOBAL_BIT = 0x0200

/**
 * Whether an address is a server on the public internet. What carries another address inside (IPv4 in IPv6, NAT64, 6to4,
 * Teredo, ISATAP) is not: no receiver has such an address, and where it leads is decided on the way.
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
