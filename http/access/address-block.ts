/** The addresses that count as one client. */
import { isIPv6 } from 'node:net'

/**
 * The block that counts as one client: an IPv4 address, or the /64 of an IPv6 address, since one line gets a whole /64.
 */
export function addressBlock(address: string): string {
  const mapped = address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address
  if (!isIPv6(mapped)) return mapped
  const [head = '', tail] = (mapped.split('%', 1)[0] as string).split('::') as [string, string?]
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0')
  return `${[...left, ...zeros, ...right]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
