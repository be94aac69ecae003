/** The jobs of banks' answers: one shows the preview of an upload, the other applies its lines. */
import type { Clock } from '../../../lib/base/clock.ts'
import { moveCollectionFile, type CollectionFileMove } from '../../../lib/direct-debits/files/collection-file.ts'
import type { DebitMessage, MandateMessage, CollectionMessage } from '../../../lib/direct-debits/debit-messages.ts'
import type { AskedMessage } from '../../../lib/direct-debits/files/responses.ts'
import { NO_RESULT, type JobKind } from '../../../lib/jobs/job.ts'
import type { Database } from '../../../storage/db/database.ts'
import { lockCollectionFile, setFileStatus } from '../../../storage/direct-debits/files/collection-files.ts'
import {
  fileLinesOfResponse,
  findResponse,
  linesToApply,
  noteApplied,
  noteResults,
  type LineToApply,
} from '../../../storage/direct-debits/files/debit-responses.ts'
import type { JobWork } from '../../jobs/jobs.ts'
import type { TakeDebitMessages } from '../../providers/debits.ts'
import { derivedId } from '../../providers/adapters/derived-id.ts'

/** Lines that are applied at a time. */
const BATCH = 200
/** Objects whose messages are taken at the same time. */
const OBJECTS_AT_ONCE = 16

export interface ResponseJobDeps {
  readonly database: Database
  readonly clock: Clock
  readonly take: TakeDebitMessages
}

interface ResponseJobRequest {
  readonly responseId: string
}

export const responseJobs = (deps: ResponseJobDeps): Readonly<Partial<Record<JobKind, JobWork>>> => ({
  debit_response: previewJob(deps),
  debit_response_apply: applyJob(deps),
})

/** The file was read when it was uploaded; the job carries its counts. */
const previewJob = ({ database }: ResponseJobDeps): JobWork => ({
  cancellable: false,
  async run(job) {
    const { responseId } = job.request as ResponseJobRequest
    const response = await findResponse(database, job.tenantId, responseId)
    if (response === null) throw new Error(`The response ${responseId} is gone.`)
    const { fileName, lineCount, changeCount, troubleCount } = response
    return {
      result: { ...NO_RESULT, fileName, rows: lineCount, counts: { changes: changeCount, troubles: troubleCount } },
      fileId: null,
    }
  },
})

const applyJob = ({ database, clock, take }: ResponseJobDeps): JobWork => ({
  cancellable: false,
  async run(job, { progress, signal }) {
    const { responseId } = job.request as ResponseJobRequest
    const response = await findResponse(database, job.tenantId, responseId)
    if (response === null) throw new Error(`The response ${responseId} is gone.`)
    const { changeCount } = response
    for (let applied = 0; ; ) {
      signal.throwIfAborted()
      const lines = await linesToApply(database, responseId, BATCH)
      if (lines.length === 0) break
      const done = await applyLines(take, lines)
      if (done.length === 0) throw new Error(`No line of the response ${responseId} could be applied.`)
      await noteResults(database, responseId, done)
      applied += done.length
      progress(applied, changeCount)
    }
    return {
      result: { ...NO_RESULT, rows: changeCount, counts: { changes: changeCount } },
      fileId: null,
      async finish(tx) {
        for (const { fileId, move } of await fileLinesOfResponse(tx.client, responseId)) {
          const file = await lockCollectionFile(tx.client, fileId)
          const to = file === null ? null : moveCollectionFile(file.status, move as CollectionFileMove)
          if (file !== null && to !== null)
            await setFileStatus(tx.client, { id: fileId, from: file.status, to, now: clock.now() })
        }
        await noteApplied(tx.client, responseId)
      },
    }
  },
})

/**
 * Gives the messages of lines to the inbox: those about one object one after the other, in the order of the file.
 *
 * @returns the numbers of the lines that need not be given again
 */
async function applyLines(take: TakeDebitMessages, lines: readonly LineToApply[]): Promise<readonly number[]> {
  const done: number[] = []
  const objects = [...Map.groupBy(lines, ({ objectId }) => objectId).values()]
  const applyNext = async (): Promise<void> => {
    for (let some = objects.pop(); some !== undefined; some = objects.pop())
      for (const line of some) {
        const messages = line.messages.map((message) => messageOf(line, message))
        const taken = await takeAll(take, messages)
        // The next messages about this object would come too early.
        if (!taken) break
        done.push(line.nth)
      }
  }
  await Promise.all(Array.from({ length: OBJECTS_AT_ONCE }, applyNext))
  return done
}

/** @returns whether every message was taken; after one that was not, no other is given */
async function takeAll(take: TakeDebitMessages, messages: readonly DebitMessage[]): Promise<boolean> {
  for (const message of messages) if ((await take([message])).length === 0) return false
  return true
}

/** Makes the message of a line. The same fact by another way has the same id, and counts once. */
function messageOf(
  { object, objectId, connectionId }: LineToApply,
  { type, key, reasonCode, rType, amount, bookedOn, providerRef, account }: AskedMessage,
): DebitMessage {
  const told = {
    id: derivedId(connectionId, object, objectId, ...key),
    connectionId,
    source: 'partner',
    reasonCode,
    providerRef,
  } as const
  return object === 'mandate'
    ? {
        ...told,
        type: type as MandateMessage['type'],
        mandateId: objectId,
        ...(account === undefined ? {} : { amendment: account }),
      }
    : { ...told, type: type as CollectionMessage['type'], collectionId: objectId, rType, amount, bookedOn }
}
