/** Free ports on the loopback interface. */
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

/** A port that nobody listens on now. */
export function freePort(): Promise<number> {
  return listenOnce(0)
}

/** Whether nobody listens on the port now. */
export function isFree(port: number): Promise<boolean> {
  return listenOnce(port).then(
    () => true,
    () => false
  )
}

/** Listens for a moment and tells the port. Someone may take it before Postgres does; then another one is tried. */
function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const { port: chosen } = server.address() as AddressInfo
      server.close(() => resolve(chosen))
    })
  })
}
