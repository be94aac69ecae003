/**
 * The other nodes whose commands this node carries out.
 *
 * Promises
 *  * A command is carried out as soon as it arrives, and answered when it is done, in any order.
 *  * A node has at most COMMANDS_MAX commands here at a time; more are refused undone.
 *  * A node that leaves takes no more commands, answers those that it has, and then closes.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { ForwardedCommand, FromHome, NodeAnswer, ToHome } from './node-messages.ts'
import type { Connected } from './node-handshake.ts'
import { NodeLink, type LinkOptions } from './node-link.ts'
import { type ReceivedMessage, RecordError } from './node-records.ts'

/** Several times what a node sends at a time: commands that it has given up still run. */
const COMMANDS_MAX = 512
/** Nodes at a time. More have proven that they are nodes only while nodes restart again and again. */
const NODES_MAX = 256
/** How often a node that leaves looks whether it has answered everything. */
const LEAVE_LOOK_MS = 20

/** Carries out a command. Resolves with null when this node has no such operation. */
export type CarryOut = (command: ForwardedCommand) => Promise<NodeAnswer> | null

/** Another node. */
interface Served {
  link: NodeLink<FromHome> | null
  /** Commands whose answers the node waits for. */
  readonly awaited: Set<number>
  /** Commands that are being carried out, those that were given up included. */
  underWay: number
}

/** Settings and dependencies. */
export interface ServedNodesOptions extends Pick<LinkOptions, 'clock' | 'log' | 'patience'> {
  readonly carryOut: CarryOut
}

/** The other nodes that are connected to this one. */
export class ServedNodes {
  readonly #options: ServedNodesOptions
  readonly #served = new Set<Served>()
  #leaving = false

  constructor(options: ServedNodesOptions) {
    this.#options = options
  }

  /** Nodes that are connected, and commands whose answers they wait for. */
  get counters(): { readonly nodes: number; readonly awaited: number } {
    let awaited = 0
    for (const served of this.#served) awaited += served.awaited.size
    return { nodes: this.#served.size, awaited }
  }

  /** Serves a node that has asked for a handshake. */
  add({ socket, head, keys }: Connected): void {
    if (this.#leaving || this.#served.size >= NODES_MAX) {
      socket.destroy()
      return
    }
    const served: Served = { link: null, awaited: new Set(), underWay: 0 }
    this.#served.add(served)
    served.link = new NodeLink<FromHome>(socket, {
      ...this.#options,
      keys,
      head,
      proven: false,
      onMessage: (message) => this.#receive(served, message),
      onClose: () => {
        served.awaited.clear()
        this.#served.delete(served)
      },
    })
  }

  /** Takes no more commands. Resolves when all nodes have their answers and have left, or after this time. */
  async leave(maxMs: number): Promise<void> {
    this.#leaving = true
    for (const { link } of this.#served) {
      if (link?.isProven === true) link.send({ head: { kind: 'leaving' }, body: '' })
      else link?.destroy(new Error('This node is leaving.'))
    }
    const deadline = performance.now() + maxMs
    while (this.#served.size > 0 && performance.now() < deadline) await pause(LEAVE_LOOK_MS)
    this.destroy()
  }

  /** Closes all connections at once. */
  destroy(): void {
    this.#leaving = true
    for (const { link } of this.#served) link?.destroy(new Error('This node has closed its connections.'))
  }

  /** @throws RecordError for a message that no node sends */
  #receive(served: Served, { head, body }: ReceivedMessage): void {
    const message = head as ToHome
    if (message.kind === 'cancel') {
      served.awaited.delete(message.id)
      return
    }
    if (message.kind !== 'command') throw new RecordError('The node sent an unknown message.')
    const { id, command } = message
    const done =
      served.underWay >= COMMANDS_MAX
        ? null
        : this.#options.carryOut({ ...command, body: command.hasBody ? body.toString() : null })
    if (done === null) {
      served.link?.send({ head: { kind: 'refused', id }, body: '' })
      return
    }
    served.awaited.add(id)
    served.underWay += 1
    void done.then(
      (answer) => this.#answer(served, id, answer),
      (error: Error) => served.link?.destroy(error),
    )
  }

  #answer(served: Served, id: number, { status, headers, body }: NodeAnswer): void {
    served.underWay -= 1
    if (served.awaited.delete(id)) served.link?.send({ head: { kind: 'answer', id, status, headers }, body })
  }
}
