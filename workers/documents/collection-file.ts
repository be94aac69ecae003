/** Writes files of direct debits: the lines of one group in, the bytes of its format out. */
import { collectionFault, planOfGroup, writeDirectDebits } from '../../lib/providers/iso20022/direct-debits.ts'
import type { BacsHead } from '../../lib/providers/bacs/messages.ts'
import { writeStandard18 } from '../../lib/providers/bacs/standard18.ts'
import type { FileCollection, FileHead } from '../../lib/providers/iso20022/messages.ts'
import { OrderFileError } from '../../lib/providers/iso20022/order-file.ts'
import type { CollectionGroup } from '../../lib/direct-debits/files/collection-file.ts'
import {
  bacsHeadOf,
  bacsItemOf,
  fileCollectionOf,
  type FileCreditor,
  type FileLine,
} from '../../lib/direct-debits/files/file-rows.ts'
import type { DocumentWriter, Emit } from './writer.ts'

/** A file of direct debits; the rows are its lines. */
export interface CollectionFileTask {
  readonly kind: 'collection_file'
  readonly group: CollectionGroup
  readonly creditor: FileCreditor
  /** The number and the sum of the lines, which stand before them in a file of ISO 20022. */
  readonly count: number
  readonly controlSum: bigint
  readonly format:
    | { readonly name: 'pain008'; readonly head: FileHead }
    | { readonly name: 'std18'; readonly head: Pick<BacsHead, 'serialNumber' | 'createdOn' | 'processingDay'> }
}

/** Makes the writer of a file. Its methods throw OrderFileError for a line that the format cannot carry. */
export function collectionFileWriter(emit: Emit, task: CollectionFileTask): DocumentWriter<FileLine> {
  const { group, creditor, count, controlSum, format } = task
  if (format.name === 'std18') {
    const head = bacsHeadOf(group, creditor, format.head)
    return pulledWriter(emit, (lines) =>
      writeStandard18(
        head,
        mapped(lines, (line) => bacsItemOf(line, group)),
      ),
    )
  }
  const plan = planOfGroup(format.head, { count, controlSum, currency: group.currency })
  return pulledWriter(emit, (lines) =>
    writeDirectDebits(plan, () => mapped(lines, (line) => checkedCollection(line, task))),
  )
}

function checkedCollection(line: FileLine, { group, creditor }: CollectionFileTask): FileCollection {
  const collection = fileCollectionOf(line, group, creditor)
  const fault = collectionFault(collection)
  if (fault !== null) throw new OrderFileError(line.id, fault)
  return collection
}

async function* mapped<From, To>(items: AsyncIterable<From>, to: (item: From) => To): AsyncGenerator<To> {
  for await (const item of items) yield to(item)
}

/**
 * Makes a writer of a generator that takes its rows one by one: `write` resolves when the generator has taken the rows of
 * the batch and waits for the next, so at most one batch is in memory.
 */
function pulledWriter<Row>(
  emit: Emit,
  make: (rows: AsyncIterable<Row>) => AsyncIterable<Uint8Array>,
): DocumentWriter<Row> {
  let batch: readonly Row[] = []
  let isOver = false
  let wanted = Promise.withResolvers<void>()
  let given = Promise.withResolvers<void>()
  async function* rows(): AsyncGenerator<Row> {
    for (;;) {
      yield* batch
      batch = []
      if (isOver) return
      given = Promise.withResolvers()
      wanted.resolve()
      await given.promise
    }
  }
  const writing = (async () => {
    for await (const bytes of make(rows())) emit(bytes)
  })()
  // The step that awaits `writing` reports its error.
  writing.catch(() => undefined)
  return {
    async write(next) {
      await Promise.race([wanted.promise, writing])
      batch = next
      wanted = Promise.withResolvers()
      given.resolve()
      await Promise.race([wanted.promise, writing])
    },
    async end() {
      await Promise.race([wanted.promise, writing])
      isOver = true
      given.resolve()
      await writing
    },
  }
}
