/** The thread that reads files, and the streams that feed it. */
import { MINUTE_MS } from '../../lib/base/clock.ts'
import { Piscina } from 'piscina'
import { OperatingError } from '../../lib/base/errors.ts'
import type { ReadingAnswer, ReadingStep } from './reading.ts'

/** Steps that wait for the thread: one per file. */
const QUEUE_MAX = 16
/** A file that gets no piece for this time is lost with its thread. */
const THREAD_IDLE_MS = MINUTE_MS
/** A step takes a fraction of a second; a thread that needs this long is stuck and is abandoned. */
const STEP_MS = MINUTE_MS

/** The thread failed or was abandoned. The content of the file is unknown. */
export class ReadingFailed extends OperatingError {
  override readonly name = 'ReadingFailed'
}

export interface ReaderOptions {
  /** A module whose default export is the result of `readingSteps`. */
  readonly module: URL
  /** Memory limit of the thread, MB. A file that needs more ends its thread, not the process. */
  readonly heapMb: number
}

export interface FileReading<Task, Item> {
  readonly task: Task
  readonly pieces: AsyncIterable<Uint8Array>
  /** Called with the items in their order; reading goes on when the promise resolves, and ends with its rejection. */
  readonly take: (items: readonly Item[]) => Promise<void>
  readonly signal?: AbortSignal
}

/** Reads files of one kind. */
export interface FileReader<Task, Item, Result> {
  /**
   * Reads a file to its end.
   * @throws ReadingFailed; the rejection of `pieces` or `take`; the reason of the signal
   */
  read(reading: FileReading<Task, Item>): Promise<Result>
  close(): Promise<void>
}

/**
 * Makes the reader of one kind of file, with one thread: readers wait for the database anyway, and the other core is
 * for payments.
 */
export function createFileReader<Task, Item, Result>({
  module,
  heapMb,
}: ReaderOptions): FileReader<Task, Item, Result> {
  const pool = new Piscina<ReadingStep<Task>, ReadingAnswer<Item, Result>>({
    filename: module.href,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: QUEUE_MAX,
    idleTimeout: THREAD_IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  })
  let opened = 0

  async function step(next: ReadingStep<Task>): Promise<ReadingAnswer<Item, Result>> {
    const { piece } = next
    try {
      return await pool.run(next, {
        signal: AbortSignal.timeout(STEP_MS),
        transferList: (piece instanceof Uint8Array ? [piece.buffer] : []) as never,
      })
    } catch (error) {
      throw new ReadingFailed('The file could not be read to its end.', { cause: error })
    }
  }

  async function read({ task, pieces, take, signal }: FileReading<Task, Item>): Promise<Result> {
    const id = String(opened++)
    const source = pieces[Symbol.asyncIterator]()
    let isOpen = false
    try {
      let answer = await step({ id, task, piece: null, isGivenUp: false })
      for (;;) {
        isOpen = answer.over === null
        if (answer.items.length > 0) await take(answer.items)
        if (answer.over !== null) return answer.over.result
        signal?.throwIfAborted()
        const piece = answer.isPieceWanted ? await pieceOf(source) : null
        isOpen = false
        answer = await step({ id, task: null, piece, isGivenUp: false })
      }
    } finally {
      // A thread that has failed no longer has the file.
      if (isOpen) pool.run({ id, task: null, piece: null, isGivenUp: true }).catch(() => undefined)
      await source.return?.()
    }
  }

  return { read, close: () => pool.destroy() }
}

/**
 * Copies the next piece to a buffer of its own, which is transferred: a view would transfer the whole buffer behind it.
 */
async function pieceOf(source: AsyncIterator<Uint8Array>): Promise<Uint8Array | 'end'> {
  const { done, value } = await source.next()
  return done === true ? 'end' : new Uint8Array(value)
}
