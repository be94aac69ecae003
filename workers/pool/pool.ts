/**
 * The pool of worker threads: CPU work above about a millisecond runs here, off the event loop.
 *
 * Bounded (I8): a few threads and a short queue. Work beyond it is refused at once, and the client gets 503. Threads
 * start with the first task and end after a time without one.
 */
import { Piscina } from 'piscina'
import { OperatingError } from '../../lib/base/errors.ts'
import type { MandatePage } from '../../lib/direct-debits/mandate-page.ts'
import type { Confirmation } from '../../lib/documents/confirmation-page.ts'
import type { Signatures } from '../../lib/webhooks/signature.ts'
import { createDocumentPool, type DocumentPool } from '../documents/pool.ts'
import type { PasswordTask } from '../identity/hash-password.ts'
import { createBankFileReader, type BankFileReader } from '../providers/bank-file-reader.ts'
import { createStatementReader, type ReadPartnerStatement } from '../reconciliation/statement-reader.ts'
import { pack, unpack, type PackedBatch, type SigningBatch } from '../webhooks/sign-webhooks.ts'

/** Sign-ins are rare; with two at a time, a small machine keeps CPU for requests. */
const THREADS_MAX = 2
/** At 40 ms each over two threads the last in the queue waits about a second and a half. */
const QUEUE_MAX = 64
const THREAD_IDLE_MS = 30_000
/** Batches that wait for their signatures; when the queue is full, the caller signs on its own thread. */
const SIGNING_QUEUE_MAX = 16
/** Confirmations that wait: at 0.1 s each, the last waits about three seconds. */
const DOCUMENT_QUEUE_MAX = 32
/** A document that takes longer is stuck; its thread is abandoned. */
const DOCUMENT_MS = 10_000
const CONFIRMATION_TASK = new URL('../documents/confirmation.ts', import.meta.url).href
const MANDATE_TASK = new URL('../documents/mandate.ts', import.meta.url).href

/** The queue is full or a document timed out. No effect was made, so the call can be repeated. */
export class WorkersBusy extends OperatingError {
  override readonly name = 'WorkersBusy'
}

/** Hashes and compares passwords in the pool. */
export interface Passwords {
  hash(password: string): Promise<string>
  /** Takes the same time for a right and a wrong password. */
  verify(password: string, hash: string): Promise<boolean>
}

/** Signs a batch of callbacks; the signatures are in the order of the batch. */
export type SignBatch = (batch: SigningBatch) => Promise<Signatures[]>

/** Renders a PDF. */
export type RenderConfirmation = (confirmation: Confirmation) => Promise<Uint8Array>
export type RenderMandate = (page: MandatePage) => Promise<Uint8Array>

export interface WorkerPool extends AsyncDisposable {
  readonly passwords: Passwords
  readonly signBatch: SignBatch
  readonly renderConfirmation: RenderConfirmation
  readonly renderMandate: RenderMandate
  /** Writes statements and exports. */
  readonly documents: DocumentPool
  /** Reads statements of partners. */
  readonly readStatement: ReadPartnerStatement
  /** Reads files of banks. */
  readonly readBankFile: BankFileReader['read']
  close(): Promise<void>
}

/** Opens the pool. Passwords, signatures and confirmations reject with WorkersBusy while their queue is full. */
export function createWorkerPool(options: { readonly queueMax?: number } = {}): WorkerPool {
  const queueMax = options.queueMax ?? QUEUE_MAX
  const pool = new Piscina<PasswordTask, string | boolean>({
    filename: new URL('../identity/hash-password.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: THREADS_MAX,
    maxQueue: queueMax + THREADS_MAX,
    idleTimeout: THREAD_IDLE_MS,
  })
  let underWay = 0

  async function run(task: PasswordTask): Promise<string | boolean> {
    if (underWay >= queueMax + THREADS_MAX)
      throw new WorkersBusy('Too many passwords are being checked at the moment; try again.')
    underWay += 1
    try {
      return await pool.run(task)
    } finally {
      underWay -= 1
    }
  }

  // A separate thread: a batch takes one or two milliseconds and must not wait behind passwords.
  const signing = new Piscina<PackedBatch, string>({
    filename: new URL('../webhooks/sign-webhooks.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: SIGNING_QUEUE_MAX,
    idleTimeout: THREAD_IDLE_MS,
  })

  async function signBatch(batch: SigningBatch): Promise<Signatures[]> {
    if (signing.queueSize >= SIGNING_QUEUE_MAX)
      throw new WorkersBusy('Too many batches are being signed at the moment.')
    return unpack(await signing.run(pack(batch)))
  }

  // A single thread, because each thread has its own copy of the fonts in memory.
  const documents = new Piscina<Confirmation | MandatePage, Uint8Array>({
    filename: CONFIRMATION_TASK,
    minThreads: 0,
    maxThreads: 1,
    maxQueue: DOCUMENT_QUEUE_MAX,
    idleTimeout: THREAD_IDLE_MS,
  })

  async function render(filename: string, page: Confirmation | MandatePage): Promise<Uint8Array> {
    if (documents.queueSize >= DOCUMENT_QUEUE_MAX)
      throw new WorkersBusy('Too many documents are being rendered at the moment; try again.')
    return await documents.run(page, { filename, signal: AbortSignal.timeout(DOCUMENT_MS) }).catch((error: unknown) => {
      throw error instanceof Error && error.name === 'AbortError'
        ? new WorkersBusy('A document took too long; try again.', { cause: error })
        : error
    })
  }

  const streams = createDocumentPool()
  const statements = createStatementReader()
  const bankFiles = createBankFileReader()
  const close = async () => {
    const readers = [statements.close(), bankFiles.close()]
    await Promise.all([...readers, pool.destroy(), signing.destroy(), documents.destroy(), streams.close()])
  }
  return {
    documents: streams,
    readStatement: statements.read,
    readBankFile: bankFiles.read,
    signBatch,
    renderConfirmation: (confirmation) => render(CONFIRMATION_TASK, confirmation),
    renderMandate: (page) => render(MANDATE_TASK, page),
    passwords: {
      hash: async (password) => (await run({ kind: 'hash', password })) as string,
      verify: async (password, hash) => (await run({ kind: 'verify', password, hash })) as boolean,
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
