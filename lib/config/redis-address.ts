/** The address of a Redis, as `REDIS_URL` names it. */

/** The addresses of a Redis and its kind: a single server, one watched by Sentinels, or a Cluster. */
export type RedisAddress = {
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  readonly tls: boolean
  readonly username: string | null
  readonly password: string | null
} & (
  | { readonly kind: 'single' | 'cluster'; readonly database: number }
  /** The hosts are the Sentinels; the credentials are those of the Redis that they watch. */
  | { readonly kind: 'sentinel'; readonly name: string }
)

const REDIS_URL =
  /^redis(?<tls>s?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<username>[^:@/]*)(?::(?<password>[^@/]*))?@)?(?<hosts>[^@/?#]+)(?:\/(?<path>[^/?#]*))?$/
const REDIS_PORT = 6379
const SENTINEL_PORT = 26_379

/**
 * Reads `redis://user:password@host:port/database`, `redis+sentinel://…@host:port,host:port/name` and
 * `redis+cluster://…@host:port,host:port`; `rediss` instead of `redis` means TLS. `null`: the text is none of these.
 */
export function parseRedisUrl(value: string): RedisAddress | null {
  // The standard parser accepts only one host for each URL, so the hosts are parsed one by one.
  const parts = REDIS_URL.exec(value)?.groups
  if (parts === undefined) return null
  const kind = (parts.kind ?? 'single') as RedisAddress['kind']
  const hosts = (parts.hosts ?? '').split(',').map((text) => {
    const url = URL.canParse(`tcp://${text}`) ? new URL(`tcp://${text}`) : null
    if (url === null || url.hostname === '' || url.port === '0') return null
    const port = url.port === '' ? (kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT) : Number(url.port)
    return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port }
  })
  if (!hosts.every((host) => host !== null) || (kind === 'single' && hosts.length > 1)) return null

  const username = decode(parts.username)
  const password = decode(parts.password)
  if (username === undefined || password === undefined) return null
  const shared = { hosts, tls: parts.tls === 's', username, password }

  const path = parts.path ?? ''
  if (kind === 'sentinel') return path === '' ? null : { ...shared, kind, name: path }
  // A Cluster has only database 0.
  if (!/^\d{0,4}$/.test(path) || (kind === 'cluster' && Number(path) !== 0)) return null
  return { ...shared, kind, database: Number(path) }
}

/**
 * Decodes a percent-encoded part of an address; `null` when it is absent or empty, `undefined` when it is malformed.
 */
function decode(part: string | undefined): string | null | undefined {
  if (part === undefined || part === '') return null
  try {
    return decodeURIComponent(part)
  } catch {
    // The caller reports a malformed part, because only the caller knows the name of the setting.
    return undefined
  }
}
