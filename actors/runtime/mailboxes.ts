/** Mailboxes: the work of one resource runs one after another on this node. */
import { LIMITS } from '../../lib/base/limits.ts'
import { Overloaded } from './lane.ts'

/**
 * Takes turns where a version or a row's lock would decide between commands of one resource anyway: those that lose
 * would be read and decided again, once for each that wins. Other nodes do not wait here; the version or the lock
 * decides between nodes.
 */
export class Mailboxes {
  /** For each resource that is being worked on here: its last work, and the number of callers that wait. */
  readonly #mailboxes = new Map<string, { tail: Promise<unknown>; waiting: number }>()

  /**
   * Runs work on a resource after the earlier work on it.
   *
   * @throws Overloaded when too many wait; the errors of the work, which the next work is independent of
   */
  async within<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
    const mailbox = this.#mailboxes.get(id) ?? { tail: Promise.resolve(), waiting: 0 }
    if (mailbox.waiting >= LIMITS.resourceMailboxMax)
      throw new Overloaded('Too many requests are waiting for this resource; try again shortly.')
    this.#mailboxes.set(id, mailbox)
    mailbox.waiting += 1
    const turn = mailbox.tail.then(work)
    mailbox.tail = turn.catch(() => {
      /* The caller gets the error. */
    })
    try {
      return await turn
    } finally {
      mailbox.waiting -= 1
      if (mailbox.waiting === 0) this.#mailboxes.delete(id)
    }
  }
}
