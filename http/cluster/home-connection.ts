/**
 * The connection of a node to one home: commands go out, many at a time, and answers come back in any order.
 *
 * Promises
 *  * At most COMMANDS_MAX commands are at the home at a time. Others wait for their turn, WAITING_MAX together at most;
 *    more are refused at once.
 *  * Every request is settled: by its answer, by the end of its time, or by an error when the connection ends. After an
 *    error the command may have been carried out. Nothing is sent twice.
 *  * A home that leaves answers what it has; it is sent nothing more.
 */
import type { NodeAnswer, CommandHead, FromHome, ForwardedCommand, ToHome } from './node-messages.ts'
import type { Connected } from './node-handshake.ts'
import { NodeLink, type LinkOptions } from './node-link.ts'
import { type ReceivedMessage, RecordError } from './node-records.ts'

/** Commands wait at the home for commits, so this bounds the commands there at a time. */
const COMMANDS_MAX = 128
/** Half a second of work of a home that others keep busy. */
const WAITING_MAX = 1_024
/** How often requests are looked through for those whose time is over. */
const LOOK_MS = 250

interface Waiting {
  readonly resolve: (answer: NodeAnswer) => void
  readonly reject: (error: Error) => void
  readonly endsAt: number
  sent: boolean
}

interface Queued {
  readonly id: number
  readonly head: CommandHead
  readonly body: string
}

/** A request under way. */
export interface HomeRequest {
  /** Rejects when there will be no answer. */
  readonly answer: Promise<NodeAnswer>
  /** Gives up the request: its answer is not needed. */
  cancel(): void
}

/** Settings and dependencies of a connection. */
export interface HomeConnectionOptions extends Pick<LinkOptions, 'clock' | 'log' | 'patience'> {
  readonly connect: () => Promise<Connected>
  /** Called once, when this connection takes no more commands. */
  readonly onLeft: () => void
}

/** The connection to one home. */
export class HomeConnection {
  readonly #options: HomeConnectionOptions
  readonly #waiting = new Map<number, Waiting>()
  #queue: Queued[] = []
  #link: NodeLink<ToHome> | null = null
  #ids = 0
  #sent = 0
  #left = false
  #ended: Error | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(options: HomeConnectionOptions) {
    this.#options = options
    options.connect().then(
      (connected) => this.#open(connected),
      (error: Error) => this.#end(error),
    )
  }

  /** Sends a command; `waitMs` is the time after which its answer is not needed. */
  request({ body, ...head }: ForwardedCommand, waitMs: number): HomeRequest {
    if (this.#ended !== null) return settled(this.#ended)
    if (this.#waiting.size >= WAITING_MAX) return settled(new Error('Too many commands wait for this home.'))
    const id = ++this.#ids
    const { promise, resolve, reject } = Promise.withResolvers<NodeAnswer>()
    this.#waiting.set(id, { resolve, reject, endsAt: performance.now() + waitMs, sent: false })
    this.#queue.push({ id, head, body: body ?? '' })
    this.#sendQueued()
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS).unref()
    return { answer: promise, cancel: () => this.#giveUp(id, new Error('The client closed the connection.')) }
  }

  /** Takes no more commands, and ends when those under way are answered. */
  leave(): void {
    if (this.#left) return
    this.#left = true
    this.#options.onLeft()
    const queued = this.#queue
    this.#queue = []
    for (const { id } of queued) this.#giveUp(id, new Error('The home of this customer is leaving.'))
    this.#endWhenIdle()
  }

  /** Ends at once. Requests under way are rejected. */
  destroy(): void {
    this.#end(new Error('This node has closed its connections.'))
  }

  #open({ socket, head, keys }: Connected): void {
    if (this.#ended !== null) {
      socket.destroy()
      return
    }
    this.#link = new NodeLink<ToHome>(socket, {
      ...this.#options,
      keys,
      head,
      proven: true,
      onMessage: (message) => this.#receive(message),
      onClose: (reason) => this.#end(reason),
    })
    this.#sendQueued()
    this.#endWhenIdle()
  }

  #sendQueued(): void {
    if (this.#link === null) return
    while (this.#queue.length > 0 && this.#sent < COMMANDS_MAX) {
      const { id, head, body } = this.#queue.shift() as Queued
      const waiting = this.#waiting.get(id)
      if (waiting === undefined) continue
      waiting.sent = true
      this.#sent += 1
      this.#link.send({ head: { kind: 'command', id, command: head }, body })
    }
  }

  /** @throws RecordError for a message that no home sends */
  #receive({ head, body }: ReceivedMessage): void {
    const message = head as FromHome
    if (message.kind === 'leaving') {
      this.leave()
      return
    }
    const waiting = this.#forget(message.id)
    if (message.kind === 'answer') waiting?.resolve({ status: message.status, headers: message.headers, body })
    else if (message.kind === 'refused') waiting?.reject(new Error('The home did not take the command.'))
    else throw new RecordError('The home sent an unknown message.')
    this.#sendQueued()
    this.#endWhenIdle()
  }

  /** Removes a request. Returns null when it was given up before. */
  #forget(id: number): Waiting | null {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return null
    this.#waiting.delete(id)
    if (waiting.sent) this.#sent -= 1
    return waiting
  }

  #giveUp(id: number, reason: Error): void {
    const waiting = this.#forget(id)
    if (waiting === null) return
    if (waiting.sent) this.#link?.send({ head: { kind: 'cancel', id }, body: '' })
    waiting.reject(reason)
    this.#sendQueued()
    this.#endWhenIdle()
  }

  #look(): void {
    const now = performance.now()
    for (const [id, { endsAt }] of this.#waiting)
      if (endsAt <= now) this.#giveUp(id, new Error('The home did not answer in time.'))
    if (this.#waiting.size === 0) this.#stopLooking()
  }

  #stopLooking(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #endWhenIdle(): void {
    if (this.#left && this.#waiting.size === 0) this.#link?.end()
  }

  #end(reason: Error): void {
    if (this.#ended !== null) return
    this.#ended = reason
    this.#stopLooking()
    this.#queue = []
    for (const { reject } of this.#waiting.values()) reject(reason)
    this.#waiting.clear()
    this.#link?.destroy(reason)
    if (!this.#left) {
      this.#left = true
      this.#options.onLeft()
    }
  }
}

/** A request that was not sent. */
function settled(reason: Error): HomeRequest {
  return { answer: Promise.reject(reason), cancel: () => undefined }
}
