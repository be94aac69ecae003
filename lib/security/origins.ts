/** Origins of pages, and the domains that they belong to. */

/** Returns whether the page of an origin is of a domain, or of a domain below it. */
export function isWithinDomain(domain: string, origin: string): boolean {
  const { hostname } = new URL(origin)
  return hostname === domain || hostname.endsWith(`.${domain}`)
}
