/**
 * Reads files in a thread, step by step: a step may bring a piece of the file, and answers with the items read so far
 * and with whether the next piece is wanted. The state of a file stays in the thread between its steps, so neither side
 * runs ahead of the other, and many files can be read at once without waiting for the end of another.
 */
import { setTimeout as pause } from 'node:timers/promises'

/**
 * A step ends after this time even without items, so that the caller can give up and other files get their turn;
 * milliseconds.
 */
const STEP_MS = 200

/** A step of a file: the first step brings the task. */
export interface ReadingStep<Task> {
  readonly id: string
  readonly task: Task | null
  /** Null where the previous piece is not used up yet. */
  readonly piece: Uint8Array | 'end' | null
  /** The rest of the file is not needed any more. */
  readonly isGivenUp: boolean
}

/** The answer to a step. With a result, the file has ended. */
export interface ReadingAnswer<Item, Result> {
  readonly items: readonly Item[]
  readonly isPieceWanted: boolean
  readonly over: { readonly result: Result } | null
}

/** Reads one kind of file: yields items from pieces, and returns a result at the end. */
export type ReadItems<Task, Item, Result> = (
  task: Task,
  pieces: AsyncIterable<Uint8Array>,
) => AsyncGenerator<Item, Result>

/** The pieces of a file as its reader iterates over them; the iteration waits for pieces that have not come yet. */
class Pieces implements AsyncIterable<Uint8Array> {
  #given: Uint8Array | 'end' | null = null
  #taken = Promise.withResolvers<void>()
  #wanted = Promise.withResolvers<void>()
  isWanted = false

  /** Resolves when the reader needs a piece. */
  get wanted(): Promise<void> {
    return this.#wanted.promise
  }

  give(piece: Uint8Array | 'end'): void {
    this.#given = piece
    if (!this.isWanted) return
    this.isWanted = false
    this.#wanted = Promise.withResolvers()
    this.#taken.resolve()
    this.#taken = Promise.withResolvers()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      while (this.#given === null) {
        this.isWanted = true
        this.#wanted.resolve()
        await this.#taken.promise
      }
      if (this.#given === 'end') return
      const piece = this.#given
      this.#given = null
      yield piece
    }
  }
}

/** The state of one file between its steps. */
class Reading<Item, Result> {
  readonly #pieces = new Pieces()
  readonly #items: AsyncGenerator<Item, Result>
  readonly #itemsMax: number
  #next: Promise<IteratorResult<Item, Result>> | null = null

  constructor(open: (pieces: AsyncIterable<Uint8Array>) => AsyncGenerator<Item, Result>, itemsMax: number) {
    this.#items = open(this.#pieces)
    this.#itemsMax = itemsMax
  }

  async step(piece: ReadingStep<never>['piece']): Promise<ReadingAnswer<Item, Result>> {
    if (piece !== null) this.#pieces.give(piece)
    const items: Item[] = []
    const over = new AbortController()
    // Items that are ready already win the race against both.
    const stop = Promise.race([
      this.#pieces.wanted,
      pause(STEP_MS, undefined, { signal: over.signal }).catch(() => undefined),
    ]).then(() => null)
    try {
      while (items.length < this.#itemsMax) {
        if (this.#next === null) {
          this.#next = this.#items.next()
          // The next step awaits this promise and reports its error.
          this.#next.catch(() => undefined)
        }
        const next = await Promise.race([this.#next, stop])
        if (next === null) break
        this.#next = null
        if (next.done === true) return { items, isPieceWanted: false, over: { result: next.value } }
        items.push(next.value)
      }
      return { items, isPieceWanted: this.#pieces.isWanted, over: null }
    } finally {
      over.abort()
    }
  }

  giveUp(): void {
    this.#items.return(undefined as never).catch(() => undefined)
  }
}

/**
 * Makes the task of the pool: one step of one file after the other. The task rejects with the errors of `read`, and for
 * a file that this thread does not know.
 *
 * @param itemsMax items of one step
 */
export function readingSteps<Task, Item, Result>(
  read: ReadItems<Task, Item, Result>,
  itemsMax: number,
): (step: ReadingStep<Task>) => Promise<ReadingAnswer<Item, Result>> {
  const open = new Map<string, Reading<Item, Result>>()
  return async ({ id, task, piece, isGivenUp }) => {
    if (task !== null) open.set(id, new Reading((pieces) => read(task, pieces), itemsMax))
    const reading = open.get(id)
    if (isGivenUp) {
      open.delete(id)
      reading?.giveUp()
      return { items: [], isPieceWanted: false, over: null }
    }
    if (reading === undefined) throw new Error(`The file ${id} is not being read here.`)
    try {
      const answer = await reading.step(piece)
      if (answer.over !== null) open.delete(id)
      return answer
    } catch (error) {
      open.delete(id)
      throw error
    }
  }
}
