/**
 * A link: one proven connection between two nodes, over which both send messages in records
 * (http/cluster/node-records.ts). A link is made by a handshake (http/cluster/node-handshake.ts).
 *
 * Promises
 *  * All messages of one turn of the event loop leave in one write.
 *  * A link that is idle sends an empty record every second. A link over which no whole record arrives for five seconds
 *    is broken: the other machine is gone, stands still, or sends a record byte by byte.
 *  * A record whose time differs by more than the clocks of nodes may differ breaks the link, and is in the log.
 *  * A link that was told to end sends what was given to it before.
 *  * Memory is bounded: a record has a maximum, and a link whose other end does not read is broken beyond BACKLOG_MAX.
 */
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../lib/base/clock.ts'
import type { Log } from '../../lib/base/log.ts'
import { CLOCK_DIFFERENCE_MAX_MS } from '../../lib/security/node-proof.ts'
import {
  CONTENT_BYTES_AIM,
  EMPTY_CONTENT_BYTES,
  encodeMessage,
  type EncodedMessage,
  type Message,
  type ReceivedMessage,
  RecordReader,
  RecordWriter,
} from './node-records.ts'

/** How often a link looks whether it is alive. An idle one sends an empty record at each look. */
const LOOK_MS = 1_000
/** Longer than a garbage collection, and shorter than the time for which callers wait. */
const SILENT_LOOKS_MAX = 5
/** Bytes that wait for the other end to read. Its requests are bounded, so a node that works never has so many. */
const BACKLOG_MAX = 64 * 1024 * 1024

/** The keys of a link, one for each direction. */
export interface LinkKeys {
  readonly sending: Uint8Array
  readonly receiving: Uint8Array
}

/** Time limits of a link; only tests set others. */
export interface LinkPatience {
  readonly lookMs?: number
}

/** Settings and dependencies of a link. */
export interface LinkOptions {
  readonly keys: LinkKeys
  /**
   * Whether the other end has shown in the handshake that it knows the keys. Otherwise its first record shows it, which
   * is an empty one.
   */
  readonly proven: boolean
  /** Bytes that arrived together with the handshake. */
  readonly head: Buffer
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
  readonly patience?: LinkPatience
  readonly onMessage: (message: ReceivedMessage) => void
  /** Called once, when nothing more can be sent or received. */
  readonly onClose: (reason: Error) => void
}

/** One proven connection between two nodes. */
export class NodeLink<Sent> {
  readonly #socket: Duplex
  readonly #options: LinkOptions
  readonly #writer: RecordWriter
  readonly #reader: RecordReader
  readonly #look: NodeJS.Timeout
  #outgoing: EncodedMessage[] = []
  #flushing = false
  /** Looks since the last record arrived. Counted, because time in which this process stood still says nothing. */
  #silentLooks = 0
  #sentSinceLook = false
  #closed = false
  #ending = false

  constructor(socket: Duplex, options: LinkOptions) {
    const { keys, proven, head, patience } = options
    this.#socket = socket
    this.#options = options
    this.#writer = new RecordWriter(keys.sending)
    this.#reader = new RecordReader(keys.receiving, proven ? undefined : EMPTY_CONTENT_BYTES)
    this.#look = setInterval(() => this.#onLook(), patience?.lookMs ?? LOOK_MS)
    this.#look.unref()
    // A record is a whole turn, so there is nothing that it should wait for.
    if (socket instanceof Socket) socket.setNoDelay(true)
    socket
      .on('data', (chunk: Buffer) => this.#receive(chunk))
      .on('error', (error) => this.destroy(error))
      .on('end', () => this.destroy(new Error('The other node has closed the connection.')))
      .on('close', () => this.destroy(new Error('The connection to the other node was closed.')))
    // The first record proves this end to the other.
    if (proven) this.#write([])
    if (head.byteLength > 0) this.#receive(head)
  }

  /** Whether the other end has proven that it knows the keys. */
  get isProven(): boolean {
    return this.#options.proven || this.#reader.records > 0
  }

  /** Sends a message at the end of this turn of the event loop. @throws RangeError for one that no record can hold */
  send(message: Message<Sent>): void {
    if (this.#closed) return
    this.#outgoing.push(encodeMessage(message))
    if (this.#flushing) return
    this.#flushing = true
    // The turn reads from all connections first, then runs this.
    setImmediate(() => this.#flush())
  }

  /** Ends the link when what was given to it has been sent. */
  end(): void {
    if (this.#ending) return
    this.#ending = true
    if (!this.#flushing) this.#finish()
  }

  /** Breaks the link. What was given to it and not sent is lost. */
  destroy(reason: Error): void {
    if (this.#closed) return
    this.#closed = true
    clearInterval(this.#look)
    this.#outgoing = []
    this.#socket.destroy()
    this.#options.onClose(reason)
  }

  #flush(): void {
    this.#flushing = false
    let messages: EncodedMessage[] = []
    let bytes = 0
    for (const message of this.#outgoing) {
      if (messages.length > 0 && bytes + message.bytes > CONTENT_BYTES_AIM) {
        this.#write(messages)
        messages = []
        bytes = 0
      }
      messages.push(message)
      bytes += message.bytes
    }
    this.#outgoing = []
    if (messages.length > 0) this.#write(messages)
    if (this.#ending) this.#finish()
  }

  #write(messages: readonly EncodedMessage[]): void {
    if (this.#closed) return
    this.#sentSinceLook = true
    this.#socket.write(this.#writer.write(this.#options.clock.now(), messages))
    if (this.#socket.writableLength > BACKLOG_MAX) this.destroy(new Error('The other node does not read its messages.'))
  }

  #finish(): void {
    this.#socket.end(() => this.destroy(new Error('This node has ended the connection.')))
  }

  #receive(chunk: Buffer): void {
    if (this.#closed) return
    try {
      for (const { time, messages } of this.#reader.read(chunk)) {
        this.#silentLooks = 0
        this.#checkTime(time)
        for (const message of messages) {
          if (this.#closed) return
          this.#options.onMessage(message)
        }
      }
    } catch (error) {
      this.destroy(error as Error)
    }
  }

  /** @throws Error for a record of another time */
  #checkTime(time: number): void {
    const differenceMs = this.#options.clock.now() - time
    if (Math.abs(differenceMs) <= CLOCK_DIFFERENCE_MAX_MS) return
    this.#options.log.warn(
      { differenceMs, maxMs: CLOCK_DIFFERENCE_MAX_MS },
      'messages of another node were refused: the clocks of the two nodes differ too much, or they are old ones',
    )
    throw new Error('The messages were signed at another time.')
  }

  #onLook(): void {
    this.#silentLooks += 1
    if (this.#silentLooks > SILENT_LOOKS_MAX) {
      this.destroy(new Error('The other node has been silent for too long.'))
      return
    }
    if (!this.#sentSinceLook && this.isProven) this.#write([])
    this.#sentSinceLook = false
  }
}
