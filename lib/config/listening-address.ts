/** The address of a server, from the settings with which it listens. */
import type { Config } from './config.ts'

/** Returns the address where a server with this host and port is reached, without a path. */
export function listeningAddress({ host, port }: Pick<Config, 'host' | 'port'>): string {
  // A server that listens on every address is reached on the loopback address.
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`
}
