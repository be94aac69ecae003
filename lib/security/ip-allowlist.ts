/** The addresses from which a key may be used: single addresses and CIDR blocks, IPv4 and IPv6. */
import { BlockList, isIP, isIPv6 } from 'node:net'

export const IP_ALLOWLIST_MAX = 20

const BITS_MAX = { ipv4: 32, ipv6: 128 } as const

/** Tells whether a text is an address without a zone: a zone such as %eth0 is meaningful only on one machine. */
export function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%')
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4')

/** Parses an address or a block; null when the text is neither. */
function parse(
  entry: string,
): { readonly address: string; readonly bits: number | null; readonly family: 'ipv4' | 'ipv6' } | null {
  const [address = '', bits, ...rest] = entry.split('/')
  if (rest.length > 0 || !isAddress(address)) return null
  const family = familyOf(address)
  if (bits === undefined) return { address, bits: null, family }
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > BITS_MAX[family]) return null
  return { address, bits: Number(bits), family }
}

/** Tells whether a text is an address or a block. */
export function isAllowlistEntry(entry: string): boolean {
  return parse(entry) !== null
}

/**
 * Compiles a list for lookups; null for an empty list, which allows every address. Invalid entries allow no address.
 */
export function compileAllowlist(entries: readonly string[]): BlockList | null {
  if (entries.length === 0) return null
  const allowed = new BlockList()
  for (const entry of entries) {
    const found = parse(entry)
    if (found === null) continue
    if (found.bits === null) allowed.addAddress(found.address, found.family)
    else allowed.addSubnet(found.address, found.bits, found.family)
  }
  return allowed
}

/**
 * Tells whether a list allows an address that the list before did not. An empty list allows every address. A block
 * counts as allowed before only when one entry of the list before contains all of it.
 */
export function widensAllowlist(before: readonly string[], after: readonly string[]): boolean {
  if (before.length === 0) return false
  return after.length === 0 || after.some((entry) => !before.some((known) => contains(known, entry)))
}

function contains(outer: string, inner: string): boolean {
  const [around, within] = [parse(outer), parse(inner)]
  if (around === null || within === null || around.family !== within.family) return false
  const longest = BITS_MAX[within.family]
  return (
    (around.bits ?? longest) <= (within.bits ?? longest) &&
    compileAllowlist([outer])?.check(within.address, within.family) === true
  )
}

/** Converts an IPv4 address that arrived over an IPv6 socket to plain IPv4; other addresses are unchanged. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address
}

/** Tells whether the list allows an address. */
export function isAllowed(allowed: BlockList, address: string): boolean {
  const plain = plainAddress(address)
  return allowed.check(plain, familyOf(plain))
}
