/**
 * Signs a batch of callbacks in a thread. The batch and the signatures cross the thread boundary as one text each,
 * because copying one text takes a fraction of the time that copying as many objects takes.
 */
import { sign, type Signatures } from '../../lib/webhooks/signature.ts'

/** Callbacks that are signed with the same secrets, newest first, and the same time in unix seconds. */
export interface SigningBatch {
  readonly secrets: readonly string[]
  readonly timestamp: number
  /** Bodies are JSON without line breaks. */
  readonly callbacks: readonly { readonly eventId: string; readonly body: string }[]
}

export interface PackedBatch {
  readonly secrets: readonly string[]
  readonly timestamp: number
  /** One line per callback: the event id, a space, the body. */
  readonly lines: string
}

export function pack({ secrets, timestamp, callbacks }: SigningBatch): PackedBatch {
  return { secrets, timestamp, lines: callbacks.map(({ eventId, body }) => `${eventId} ${body}`).join('\n') }
}

export function unpack(lines: string): Signatures[] {
  return lines.split('\n').map((line) => {
    const [service, standard] = line.split('\t') as [string, string]
    return { service, standard }
  })
}

/** The task of the pool. */
export default function run({ secrets, timestamp, lines }: PackedBatch): string {
  return lines
    .split('\n')
    .map((line) => {
      const space = line.indexOf(' ')
      const { service, standard } = sign({
        eventId: line.slice(0, space),
        timestamp,
        body: line.slice(space + 1),
        secrets,
      })
      return `${service}\t${standard}`
    })
    .join('\n')
}
