/**
 * The settings of one worker of several: each is a node with an address of its own beside the port that all share.
 *
 * Clients reach the workers through PORT, and any of them may answer. A node that forwards a command has to reach one
 * worker, so worker 1 is reached at the port of NODE_URL + 1, worker 2 at + 2, and so on. The port 0 lets the system
 * choose each of them, for nodes that no firewall separates.
 */
import { StartError } from '../../lib/base/errors.ts'
import type { Config } from '../../lib/config/config.ts'

const PORT_MAX = 65_535

/** Returns the port of an address of which the default of its protocol may have been left out. */
export function portOf(address: string): number {
  const { port, protocol } = new URL(address)
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)
}

/** Returns the address with another port, without a slash at the end. */
export function withPort(address: string, port: number): string {
  const url = new URL(address)
  url.port = `${port}`
  return url.origin
}

/**
 * Returns the settings of a worker; `nth` counts from 1. The metrics of all workers have one port, which is not a
 * worker's.
 *
 * @throws StartError when there is no port for its address
 */
export function settingsOfWorker(config: Config, nth: number): Config {
  const { nodeUrl, nodeId } = config
  if (nodeUrl === null) throw new Error('Workers need an address for other nodes.')
  const first = portOf(nodeUrl)
  const port = first === 0 ? 0 : first + nth
  if (port > PORT_MAX)
    throw new StartError(
      `NODE_URL has the port ${first}, and worker ${nth} has none above it; set it to a port below ${PORT_MAX + 1 - nth}.`,
    )
  return {
    ...config,
    worker: nth,
    nodeId: nodeId === null ? null : `${nodeId}-${nth}`,
    nodeUrl: withPort(nodeUrl, port),
    metricsPort: null,
  }
}
