/** The listening socket of a node: how it opens, its address, and how it closes. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { StartError } from '../../lib/base/errors.ts'
import type { Config } from '../../lib/config/config.ts'
import { portOf, withPort } from '../cluster/worker-settings.ts'
import { listeningAddress } from '../../lib/config/listening-address.ts'

/** Time that accepted requests get when the service stops; after it, their connections are closed. */
export const DRAIN_MS = 7_000

/** Opens the socket. @throws StartError when the port cannot be opened */
export async function listen(server: Server, { host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new StartError(`Port ${port} on ${host} is in use; stop what listens there or set another PORT.`, {
        cause: error,
      })
    if (code === 'EACCES')
      throw new StartError(`Port ${port} may not be opened by this user; set a PORT above 1023.`, { cause: error })
    throw new StartError(`Cannot listen on ${host}:${port} (${code}); correct HOST and PORT.`, { cause: error })
  }
}

/**
 * Opens the socket on which other nodes reach one worker, which the other workers do not share. Returns its address.
 *
 * @throws StartError when the port cannot be opened
 */
export async function listenForNodes(server: Server, host: string, nodeUrl: string): Promise<string> {
  const port = portOf(nodeUrl)
  server.listen({ port, host, exclusive: true })
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    throw new StartError(
      `Port ${port} on ${host} cannot be opened for other nodes (${cause.code}); set another port in NODE_URL.`,
      { cause },
    )
  })
  return withPort(nodeUrl, (server.address() as AddressInfo).port)
}

/** Returns the address where a listening server is reached, without a path. */
export function addressOf(server: Server, { host }: Pick<Config, 'host'>): string {
  const { port } = server.address() as AddressInfo
  return listeningAddress({ host, port })
}

/** Stops accepting requests, and waits until those under way are answered, `DRAIN_MS` at most. */
export async function drain(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS)
  // Closes the keep-alive connections that become idle during the drain.
  const sweep = setInterval(() => server.closeIdleConnections(), 100)
  await closed
  clearTimeout(cut)
  clearInterval(sweep)
}
