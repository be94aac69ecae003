/**
 * Connections between the nodes of one cluster. Before a request is sent over a connection, a handshake proves that
 * both ends know NODE_SECRET, and that the other end is the process that Redis names. A stranger at that address, or a
 * node that was restarted there, gets nothing.
 *
 * The handshake is one plain HTTP request, so it passes wherever the API passes:
 *
 *     GET /node-handshake              X-Vostro-Node: <time>.<nonce>.<signature over instance, time and nonce>
 *     204                              X-Vostro-Node-Answer: <signature over instance and nonce, with another key>
 */
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Context } from 'koa'
import { buildConnector, Pool } from 'undici'
import { MINUTE_MS, type Clock } from '../../lib/base/clock.ts'
import { CLOCK_DIFFERENCE_MAX_MS, type NodeProof } from '../../lib/security/node-proof.ts'
import type { NodeAddress } from '../../lib/shards/shards.ts'
import type { Log } from '../../lib/base/log.ts'

/** The header with the proof of the node that sends, and the header with the proof of the node that answers. */
export const NODE_HEADER = 'x-vostro-node'
export const NODE_ANSWER_HEADER = 'x-vostro-node-answer'
export const HANDSHAKE_PATH = '/node-handshake'

/** Connections to one other node. Commands wait there for commits, so this bounds the commands sent at a time. */
const CONNECTIONS_MAX = 128
/**
 * Nodes to which connections are kept. A restarted node counts as another node; beyond this number the oldest are
 * closed.
 */
const NODES_MAX = 64
/** Longer than a connection and an answer take between machines that are near each other. Callers wait meanwhile. */
const CONNECT_MAX_MS = 1_000
const HANDSHAKE_MAX_MS = 1_000
/** Size of the answer to a handshake; the service's own has some 400 bytes. */
const HANDSHAKE_BYTES_MAX = 4 * 1024
/** How long the body of an answer may make no progress. */
const BODY_TIMEOUT_MS = MINUTE_MS
const NONCE_BYTES = 16

/** The connections of one node to the others. */
export interface NodeConnections {
  /** Returns the connections to another node. Each connection is proven before it is used. */
  to(node: NodeAddress): Pool
  /** Answers a handshake. Returns false when the request is not a handshake, or not by a node of this cluster. */
  answerHandshake(context: Context): boolean
  close(): Promise<void>
}

/** Settings and dependencies of the connections. */
export interface NodeConnectionsOptions {
  readonly proof: NodeProof
  readonly clock: Clock
  /** Id of this start of the process, by which other nodes know it. */
  readonly instance: string
  readonly log: Pick<Log, 'warn'>
}

/** Builds the connections of one node. */
export function createNodeConnections({ proof, clock, instance, log }: NodeConnectionsOptions): NodeConnections {
  const pools = new Map<string, Pool>()

  function open({ nodeUrl, instance: other }: NodeAddress): Pool {
    const { host } = new URL(nodeUrl)
    const connect = buildConnector({ timeout: CONNECT_MAX_MS, allowH2: false })
    return new Pool(nodeUrl, {
      connections: CONNECTIONS_MAX,
      pipelining: 1,
      bodyTimeout: BODY_TIMEOUT_MS,
      connect(options, callback) {
        connect(options, (error, socket) => {
          if (error !== null) {
            callback(error, null)
            return
          }
          const nonce = randomBytes(NONCE_BYTES).toString('base64url')
          const time = `${clock.now()}`
          const question = `${time}.${nonce}.${proof.sign('handshake', [other, time, nonce])}`
          shakeHands(socket, host, question, (answer) =>
            proof.isSigned('handshake answer', [other, nonce], answer),
          ).then(
            () => callback(null, socket),
            (reason: Error) => {
              socket.destroy()
              callback(reason, null)
            },
          )
        })
      },
    })
  }

  return {
    to(node) {
      let pool = pools.get(node.instance)
      if (pool === undefined) {
        const [oldest] = pools
        if (oldest !== undefined && pools.size >= NODES_MAX) {
          pools.delete(oldest[0])
          void oldest[1].close()
        }
        pool = open(node)
        pools.set(node.instance, pool)
      }
      return pool
    },

    answerHandshake(context) {
      if (context.path !== HANDSHAKE_PATH || context.method !== 'GET') return false
      const [time = '', nonce = '', signature = ''] = (
        (context.req.headers[NODE_HEADER] as string | undefined) ?? ''
      ).split('.')
      if (!proof.isSigned('handshake', [instance, time, nonce], signature)) return false
      const differenceMs = clock.now() - Number(time)
      if (Math.abs(differenceMs) > CLOCK_DIFFERENCE_MAX_MS) {
        log.warn(
          { differenceMs, maxMs: CLOCK_DIFFERENCE_MAX_MS, address: context.req.socket.remoteAddress },
          'a handshake of another node was refused: the clocks of the two nodes differ too much, or it is an old one',
        )
        return false
      }
      context.respond = false
      context.res.writeHead(204, [NODE_ANSWER_HEADER, proof.sign('handshake answer', [instance, nonce])]).end()
      return true
    },

    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.close()))
    },
  }
}

/**
 * Sends the question over a new connection and waits for a valid answer. After that the connection is ready for
 * requests.
 */
function shakeHands(socket: Socket, host: string, question: string, holds: (answer: string) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    const onClose = (): void => end('The other node closed the connection during the handshake.')
    const timer = setTimeout(
      () => end(`The other node did not answer the handshake within ${HANDSHAKE_MAX_MS} ms.`),
      HANDSHAKE_MAX_MS,
    )

    function end(trouble: string | null): void {
      clearTimeout(timer)
      socket.off('readable', read).off('close', onClose)
      if (trouble === null) resolve()
      else reject(new Error(trouble))
    }

    function read(): void {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null)
        text += chunk.toString('latin1')
      const length = text.indexOf('\r\n\r\n')
      if (length === -1 && text.length <= HANDSHAKE_BYTES_MAX) return
      const [status = '', ...headers] = text.slice(0, length).split('\r\n')
      const answer =
        headers
          .find((line) => line.toLowerCase().startsWith(`${NODE_ANSWER_HEADER}:`))
          ?.slice(NODE_ANSWER_HEADER.length + 1)
          .trim() ?? ''
      const whole = length !== -1 && text.length === length + 4 && status.startsWith('HTTP/1.1 204 ')
      end(
        whole && holds(answer)
          ? null
          : 'The process at the address of the other node could not prove that it is that node.',
      )
    }

    socket.on('readable', read).on('close', onClose)
    socket.write(`GET ${HANDSHAKE_PATH} HTTP/1.1\r\nHost: ${host}\r\n${NODE_HEADER}: ${question}\r\n\r\n`)
  })
}
