/**
 * The handshake of two nodes. It proves that both know NODE_SECRET and that the other end is the process that Redis
 * names, before anything of a request is sent. A stranger at that address, or a node that was restarted there, gets
 * nothing.
 *
 * The handshake is one HTTP request, so it passes wherever the API passes; afterwards the connection carries records:
 *
 *     GET /node-handshake               X-Vostro-Node: <time>.<nonce>.<signature over instance, time and nonce>
 *     Upgrade: vostro-node
 *     101                               X-Vostro-Node-Answer: <nonce>.<signature over instance and both nonces>
 *
 * The keys of the link are made of NODE_SECRET, instance, time and both nonces. A handshake that is repeated by somebody
 * who listened gets another nonce of the answering node, and with it keys that the listener does not know.
 */
import { randomBytes } from 'node:crypto'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../lib/base/clock.ts'
import type { Log } from '../../lib/base/log.ts'
import { CLOCK_DIFFERENCE_MAX_MS, type NodeProof } from '../../lib/security/node-proof.ts'
import type { NodeAddress } from '../../lib/shards/shards.ts'
import type { LinkKeys } from './node-link.ts'

/** The header with the proof of the node that asks, and the header with the proof of the node that answers. */
const NODE_HEADER = 'x-vostro-node'
const NODE_ANSWER_HEADER = 'x-vostro-node-answer'
const PROTOCOL = 'vostro-node'
export const HANDSHAKE_PATH = '/node-handshake'

/** Longer than a connection and an answer take between machines that are near each other. Callers wait meanwhile. */
const HANDSHAKE_MAX_MS = 1_000
const NONCE_BYTES = 16

/** A connection whose other end has answered the handshake. */
export interface Connected {
  readonly socket: Duplex
  /** Bytes that arrived behind the handshake. */
  readonly head: Buffer
  readonly keys: LinkKeys
}

/** Whether a request asks for a handshake; whether it may is seen when it is answered. */
export const asksForHandshake = ({ url, headers }: IncomingMessage): boolean =>
  url === HANDSHAKE_PATH && headers.upgrade === PROTOCOL

/** The facts that both ends of a link know, from which its keys are derived. */
type LinkParts = readonly [instance: string, time: string, nonce: string, answerNonce: string]

const newNonce = (): string => randomBytes(NONCE_BYTES).toString('base64url')

/**
 * Connects to another node.
 *
 * @throws the error of the connection; an error when the other end does not prove in time that it is that node
 */
export function connectTo(
  { nodeUrl, instance }: NodeAddress,
  { proof, clock }: { readonly proof: NodeProof; readonly clock: Clock },
): Promise<Connected> {
  const nonce = newNonce()
  const time = `${clock.now()}`
  const url = new URL(HANDSHAKE_PATH, nodeUrl)
  const { promise, resolve, reject } = Promise.withResolvers<Connected>()
  const refused = 'The process at the address of the other node could not prove that it is that node.'
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    agent: false,
    headers: {
      Connection: 'Upgrade',
      Upgrade: PROTOCOL,
      [NODE_HEADER]: `${time}.${nonce}.${proof.sign('handshake', [instance, time, nonce])}`,
    },
  })
  const timer = setTimeout(
    () => request.destroy(new Error(`The other node did not answer the handshake within ${HANDSHAKE_MAX_MS} ms.`)),
    HANDSHAKE_MAX_MS,
  )
  request
    .on('upgrade', (response, socket, head) => {
      const [answerNonce = '', signature = ''] = `${response.headers[NODE_ANSWER_HEADER] ?? ''}`.split('.')
      if (!proof.isSigned('handshake answer', [instance, nonce, answerNonce], signature)) {
        socket.destroy()
        reject(new Error(refused))
        return
      }
      const parts: LinkParts = [instance, time, nonce, answerNonce]
      resolve({
        socket,
        head,
        keys: { sending: proof.key('to home', parts), receiving: proof.key('from home', parts) },
      })
    })
    .on('response', (response) => {
      response.destroy()
      reject(new Error(refused))
    })
    .on('error', reject)
    .end()
  return promise.finally(() => clearTimeout(timer))
}

/** Answers the handshake of another node. Returns null, after a refusal, when no node of this cluster asks now. */
export function answerHandshake(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  {
    proof,
    clock,
    instance,
    log,
  }: {
    readonly proof: NodeProof
    readonly clock: Clock
    readonly instance: string
    readonly log: Pick<Log, 'warn'>
  },
): Connected | null {
  const [time = '', nonce = '', signature = ''] = `${request.headers[NODE_HEADER] ?? ''}`.split('.')
  const differenceMs = clock.now() - Number(time)
  const isSigned = proof.isSigned('handshake', [instance, time, nonce], signature)
  if (!isSigned || Math.abs(differenceMs) > CLOCK_DIFFERENCE_MAX_MS) {
    if (isSigned)
      log.warn(
        { differenceMs, maxMs: CLOCK_DIFFERENCE_MAX_MS, address: request.socket.remoteAddress },
        'a handshake of another node was refused: the clocks of the two nodes differ too much, or it is an old one',
      )
    socket.on('error', () => undefined)
    // The socket has left the server and its deadlines, so a stranger that never closes its side would keep it.
    socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n', () => socket.destroy())
    return null
  }
  const answerNonce = newNonce()
  const answer = `${answerNonce}.${proof.sign('handshake answer', [instance, nonce, answerNonce])}`
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${PROTOCOL}\r\n${NODE_ANSWER_HEADER}: ${answer}\r\n\r\n`,
  )
  const parts: LinkParts = [instance, time, nonce, answerNonce]
  return { socket, head, keys: { sending: proof.key('from home', parts), receiving: proof.key('to home', parts) } }
}
