/**
 * Connections between the nodes of one cluster. Before anything of a request is sent over one, both ends have proven by a
 * handshake that they know NODE_SECRET, and the other end that it is the process that Redis names. A stranger at that address,
 * or a node that was started there anew, is sent nothing.
 *
 * The handshake is one request of plain HTTP, so it passes wherever the API passes:
 *
 *     GET /node-handshake              X-Vostro-Node: <time>.<nonce>.<signature over instance, time and nonce>
 *     204                              X-Vostro-Node-Answer: <signature over instance and nonce, with another key>
 */
import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Context } from 'koa'
import { buildConnector, Pool } from 'undici'
import type { Clock } from '../../lib/base/clock.ts'
import { CLOCK_DIFFERENCE_MAX_MS, type NodeProof } from '../../lib/security/node-proof.ts'
import type { NodeAddress } from '../../lib/shards/shards.ts'
import type { Log } from '../../lib/base/log.ts'

/** The header with which a node proves that it sends, and the one with which the other node proves that it answers. */
export const NODE_HEADER = 'x-vostro-node'
export const NODE_ANSWER_HEADER = 'x-vostro-node-answer'
export const HANDSHAKE_PATH = '/node-handshake'

/** Connections kept to one other node. Commands wait for commits there, so it is their number at a time that is bounded. */
const CONNECTIONS_MAX = 128
/** Other nodes to keep connections to; nodes that come back have new ones and leave theirs behind. */
const NODES_MAX = 64
/** Longer than a connection and an answer take between machines that are near each other; callers wait meanwhile. */
const CONNECT_MAX_MS = 1_000
const HANDSHAKE_MAX_MS = 1_000
/** Of the answer to a handshake; ours has some 400. */
const HANDSHAKE_BYTES_MAX = 4 * 1024
/** How long the body of an answer may stand still. */
const BODY_TIMEOUT_MS = 60_000
const NONCE_BYTES = 16

export interface NodeConnections {
  /** Connections to another node; each proves itself before it is used. */
  to(node: NodeAddress): Pool
  /** Answers a handshake. False when the request is none, or not by a node of this cluster. */
  answerHandshake(context: Context): boolean
  close(): Promise<void>
}

export interface NodeConnectionsOptions {
  readonly proof: NodeProof
  readonly clock: Clock
  /** One per start of this process: what other nodes know it by. */
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
      connections: CONNECTIONS_MAX, pipelining: 1, bodyTimeout: BODY_TIMEOUT_MS,
      connect(options, callback) {
        connect(options, (error, socket) => {
          if (error !== null) { callback(error, null); return }
          const nonce = randomBytes(NONCE_BYTES).toString('base64url')
          const time = `${clock.now()}`
          const question = `${time}.${nonce}.${proof.sign('handshake', [other, time, nonce])}`
          shakeHands(socket, host, question, (answer) => proof.isSigned('handshake answer', [other, nonce], answer)).then(
            () => callback(null, socket),
            (reason: Error) => { socket.destroy(); callback(reason, null) },
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
      const [time = '', nonce = '', signature = ''] = (context.req.headers[NODE_HEADER] as string | undefined ?? '').split('.')
      if (!proof.isSigned('handshake', [instance, time, nonce], signature)) return false
      const differenceMs = clock.now() - Number(time)
      if (Math.abs(differenceMs) > CLOCK_DIFFERENCE_MAX_MS) {
        log.warn({ differenceMs, maxMs: CLOCK_DIFFERENCE_MAX_MS, address: context.req.socket.remoteAddress }, 'a handshake of another node was refused: the clocks of the two nodes differ too much, or it is an old one')
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

/** Sends the question over a new connection and waits for an answer that holds. The connection can be used for requests then. */
function shakeHands(socket: Socket, host: string, question: string, holds: (answer: string) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    const onClose = (): void => end('The other node closed the connection during the handshake.')
    const timer = setTimeout(() => end(`The other node did not answer the handshake within ${HANDSHAKE_MAX_MS} ms.`), HANDSHAKE_MAX_MS)

    function end(trouble: string | null): void {
      clearTimeout(timer)
      socket.off('readable', read).off('close', onClose)
      if (trouble === null) resolve()
      else reject(new Error(trouble))
    }

    function read(): void {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) text += chunk.toString('latin1')
      const length = text.indexOf('\r\n\r\n')
      if (length === -1 && text.length <= HANDSHAKE_BYTES_MAX) return
      const [status = '', ...headers] = text.slice(0, length).split('\r\n')
      const answer = headers.find((line) => line.toLowerCase().startsWith(`${NODE_ANSWER_HEADER}:`))?.slice(NODE_ANSWER_HEADER.length + 1).trim() ?? ''
      const whole = length !== -1 && text.length === length + 4 && status.startsWith('HTTP/1.1 204 ')
      end(whole && holds(answer) ? null : 'The process at the address of the other node could not prove that it is that node.')
    }

    socket.on('readable', read).on('close', onClose)
    socket.write(`GET ${HANDSHAKE_PATH} HTTP/1.1\r\nHost: ${host}\r\n${NODE_HEADER}: ${question}\r\n\r\n`)
  })
}
