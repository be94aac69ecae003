/** The addresses that a key may be used from: single ones and CIDR blocks, IPv4 and IPv6. */
import { BlockList, isIP, isIPv6 } from 'node:net'

export const IP_ALLOWLIST_MAX = 20

/** The address with its prefix length as a list takes it; null when it is neither an address nor a block. */
function parse(entry: string): { readonly address: string; readonly bits: number | null; readonly family: 'ipv4' | 'ipv6' } | null {
  const [address = '', bits, ...rest] = entry.split('/')
  const version = isIP(address)
  // A zone such as %eth0 belongs to one machine's own links.
  if (version === 0 || rest.length > 0 || address.includes('%')) return null
  const family = version === 6 ? 'ipv6' : 'ipv4'
  if (bits === undefined) return { address, bits: null, family }
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > (version === 6 ? 128 : 32)) return null
  return { address, bits: Number(bits), family }
}

/** Whether the text is an address or a block. */
export function isAllowlistEntry(entry: string): boolean {
  return parse(entry) !== null
}

/** A list that can be asked; null for an empty one, which lets everybody in. Entries that make no sense let nobody in. */
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
 * Whether a list lets in an address that the list before did not. An empty list lets every address in. A block counts as let
 * in before only when one entry of the list before contains all of it.
 */
export function widensAllowlist(before: readonly string[], after: readonly string[]): boolean {
  if (before.length === 0) return false
  return after.length === 0 || after.some((entry) => !before.some((known) => contains(known, entry)))
}

function contains(outer: string, inner: string): boolean {
  const [around, within] = [parse(outer), parse(inner)]
  if (around === null || within === null || around.family !== within.family) return false
  const longest = within.family === 'ipv6' ? 128 : 32
  return (around.bits ?? longest) <= (within.bits ?? longest) && compileAllowlist([outer])?.check(within.address, within.family) === true
}

/** An IPv4 address that arrived over an IPv6 socket, as what it is; every other address unchanged. */
export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address
}

/** Whether an address is on the list. */
export function isAllowed(allowed: BlockList, address: string): boolean {
  const plain = plainAddress(address)
  return allowed.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
}
