/** Free ports on the loopback interface. */
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

/** Finds a port that is free now. */
export function freePort(): Promise<number> {
  return listenOnce(0)
}

/** Whether the port is free now. */
export function isFree(port: number): Promise<boolean> {
  return listenOnce(port).then(
    () => true,
    () => false,
  )
}

/**
 * Listens for a moment and returns the port. Another process may take the port before Postgres does; then the caller
 * tries another port.
 */
function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const { port: chosen } = server.address() as AddressInfo
      server.close(() => resolve(chosen))
    })
  })
}
