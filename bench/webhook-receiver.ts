/**
 * The receiver of P8: the cheapest Node has to offer, in a process of its own. Counts callbacks, remembers which events
 * came, and how long after their making.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Histogram, type SparseHistogram } from './histogram.ts'
import { answerParent } from './process.ts'

export type ReceiverQuestion = 'listen' | 'take'

export interface Taken {
  readonly url: string
  /** Callbacks since it was asked last, and how late they were. */
  readonly callbacks: number
  readonly lateness: SparseHistogram
  /** Different events over all. */
  readonly events: number
  readonly connections: number
}

const CREATED = '"createdAt":"'
const TIMESTAMP_LENGTH = 24

let callbacks = 0
let connections = 0
let lateness = new Histogram()
const events = new Set<string>()

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    callbacks += 1
    const body =
      chunks.length === 1 ? (chunks[0] as Buffer).toString('latin1') : Buffer.concat(chunks).toString('latin1')
    const at = body.indexOf(CREATED)
    if (at >= 0)
      lateness.record(
        Math.max(0, Date.now() - Date.parse(body.slice(at + CREATED.length, at + CREATED.length + TIMESTAMP_LENGTH))) *
          1_000,
      )
    const id = request.headers['service-event-id']
    if (typeof id === 'string') events.add(id)
    response.writeHead(204).end()
  })
}).on('connection', () => {
  connections += 1
})

async function answer(question: ReceiverQuestion): Promise<Taken> {
  if (question === 'listen' && !server.listening)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const taken: Taken = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    callbacks,
    lateness: lateness.sparse(),
    events: events.size,
    connections,
  }
  callbacks = 0
  lateness = new Histogram()
  return taken
}

answerParent<ReceiverQuestion, Taken>(answer, async () => {
  server.closeAllConnections()
  server.close()
})
