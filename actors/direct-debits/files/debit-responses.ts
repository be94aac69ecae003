/**
 * Answers of banks that staff upload. The file is read by a thread while it is uploaded, into lines that show what each
 * would change; a file that is broken, nobody's, or was taken before is refused and leaves nothing. Another person has
 * the lines applied: a job gives their messages to the inbox of direct debits, each once.
 */
import { timestamp } from '../../../lib/base/clock.ts'
import { refuse, refuseField, refuseNotFound, refuseTransition } from '../../../lib/base/problems.ts'
import type { Tenant } from '../../../lib/commands/caller.ts'
import type { Command, CommandAnswer, Versioned } from '../../../lib/commands/command.ts'
import { withUpload } from '../../../lib/commands/idempotency.ts'
import type { ListQuery, ListResult } from '../../../lib/contract/list.ts'
import type {
  DebitResponse,
  debitResponseLineList,
  DebitResponseLine,
  debitResponseList,
} from '../../../lib/direct-debits/files/debit-response-schema.ts'
import {
  RESPONSE_BYTES_MAX,
  RESPONSE_LINES_MAX,
  type DebitResponseRecord,
  type PreviewLine,
} from '../../../lib/direct-debits/files/debit-response.ts'
import { isTrouble } from '../../../lib/direct-debits/files/responses.ts'
import type { ResponseFormat } from '../../../lib/direct-debits/files/response-reading.ts'
import type { Caller } from '../../../lib/identity/caller.ts'
import type { Job } from '../../../lib/jobs/job-schema.ts'
import type { JobKind } from '../../../lib/jobs/job.ts'
import { shardOf } from '../../../lib/shards/shard.ts'
import { readDatabase } from '../../../storage/db/read-database.ts'
import { sqlState, UNIQUE_VIOLATION } from '../../../storage/db/sqlstates.ts'
import type { TransactionClient } from '../../../storage/db/transaction.ts'
import {
  dropResponseLines,
  findResponse,
  insertResponse,
  isTaken,
  listLines,
  listResponses,
  lockResponse,
  noteApplying,
  writeLines,
} from '../../../storage/direct-debits/files/debit-responses.ts'
import { keepFile, readFile, writeFile, type StoredFile } from '../../../storage/documents/files.ts'
import { insertJob, type JobRecord } from '../../../storage/jobs/jobs.ts'
import type { ResponseReader } from '../../../workers/direct-debits/response-reader.ts'
import { recordChange } from '../../commands/changes.ts'
import { decideOnce, isRecorded } from '../../commands/run-once.ts'
import { auditCaller } from '../../commands/trail.ts'
import type { ReadUpload } from '../../documents/uploads.ts'
import { createJobView, type JobDeps } from '../../jobs/job-operations.ts'
import { ResponseInterpreter } from './interpret-response.ts'

/** A file is read in the request; a thread reads ten thousand lines a second. */
const READING_MS = 120_000

export interface DebitResponseReads {
  list(query: ListQuery<typeof debitResponseList>): Promise<ListResult<DebitResponse>>
  /** Null when the operator has no such response. */
  get(tenant: Tenant, id: string): Promise<Versioned<DebitResponse> | null>
  lines(query: ListQuery<typeof debitResponseLineList>, id: string): Promise<ListResult<DebitResponseLine>>
}

export interface DebitResponseCommands {
  /** @throws ProblemError `validation-error`, `duplicate-file`, `payload-too-large` */
  upload(by: Caller<'person'>, command: Omit<Command<null>, 'body'>, read: ReadUpload): Promise<CommandAnswer<Job, 202>>
  /** @throws ProblemError `not-found`, `insufficient-scope` for the person who uploaded it, `invalid-transition` */
  apply(
    by: Caller<'person'>,
    id: string,
    command: Pick<Command<unknown>, 'idempotency'>,
  ): Promise<CommandAnswer<DebitResponse, 200>>
}

export type DebitResponseDeps = Omit<JobDeps, 'jobs'> & { readonly reader: ResponseReader }

/** Creates the operations. */
export function createDebitResponses(deps: DebitResponseDeps): {
  readonly reads: DebitResponseReads
  readonly commands: DebitResponseCommands
} {
  const { database } = deps
  const db = readDatabase(database)
  return {
    reads: {
      async list(query) {
        const { rows, ...page } = await listResponses(db, query)
        return { ...page, rows: rows.map(responseView) }
      },
      async get(tenant, id) {
        const found = await findResponse(database, tenant.id, id)
        return found === null ? null : versioned(found)
      },
      async lines(query, id) {
        const { rows, ...page } = await listLines(db, query, id)
        return { ...page, rows: rows.map(lineView) }
      },
    },
    commands: {
      upload: (by, command, read) => uploadResponse(deps, by, command, read),
      apply: (by, id, command) => applyResponse(deps, by, id, command),
    },
  }
}

async function uploadResponse(
  deps: DebitResponseDeps,
  by: Caller<'person'>,
  command: Omit<Command<null>, 'body'>,
  read: ReadUpload,
): Promise<CommandAnswer<Job, 202>> {
  const { database, ids, clock } = deps
  const { file, fields } = await read(
    { maxBytes: RESPONSE_BYTES_MAX, types: 'any', fields: [] },
    ({ fileName, bytes, maxBytes }) =>
      writeFile(database, bytes, {
        id: ids.next(),
        tenantId: by.tenant.id,
        fileName,
        contentType: 'application/xml',
        maxBytes,
        now: clock.now(),
      }),
  )
  const uploaded = withUpload(command, { fields, file })
  const id = ids.next()
  const preview = (await isRecorded(deps, uploaded)) ? null : await readPreview(deps, by.tenant, id, file)
  try {
    return await decideOnce(deps, uploaded, 202, async (client) => {
      if (preview === null) throw new Error('The key was recorded, and its record is gone.')
      const now = clock.now()
      await keepFile(client, file.id, null)
      await insertResponse(client, {
        id,
        operatorId: by.tenant.id,
        fileName: file.fileName,
        storedFileId: file.id,
        sha256: file.sha256,
        uploadedBy: by.principal.id,
        uploadedByName: by.principal.name,
        createdAt: now,
        ...preview,
      })
      await recordChange({ client, ids, now }, auditCaller(by), by.tenant.id, {
        action: 'debit_response.uploaded',
        object: { type: 'debit_response', id },
        before: null,
        after: { format: preview.format, sha256: file.sha256, lines: preview.lineCount, changes: preview.changeCount },
      })
      return await requested(deps, client, by, { id, kind: 'debit_response', responseId: id })
    })
  } catch (error) {
    if (preview !== null) await dropResponseLines(database, id)
    if (sqlState(error) === UNIQUE_VIOLATION) refuseDuplicate()
    throw error
  }
}

const refuseDuplicate = (): never => refuse('duplicate-file', 'A file with this content was taken before.')

interface Preview {
  readonly format: ResponseFormat
  readonly lineCount: number
  readonly changeCount: number
  readonly troubleCount: number
}

/** Reads a file into lines. @throws ProblemError for one that cannot be used, of which no line stays */
async function readPreview(
  { database, reader }: DebitResponseDeps,
  tenant: Tenant,
  id: string,
  file: StoredFile,
): Promise<Preview> {
  if (await isTaken(database, tenant.id, file.sha256)) refuseDuplicate()
  const interpreter = new ResponseInterpreter(database, tenant.id)
  const counts = { lineCount: 0, changeCount: 0, troubleCount: 0 }
  const keep = async (lines: readonly PreviewLine[]): Promise<void> => {
    await writeLines(database, id, lines)
    counts.lineCount += lines.length
    counts.changeCount += lines.filter(({ messages }) => messages.length > 0).length
    counts.troubleCount += lines.filter(isTrouble).length
    if (counts.lineCount > RESPONSE_LINES_MAX)
      refuseField('/file', 'too_large', `A file has at most ${RESPONSE_LINES_MAX} lines.`, { max: RESPONSE_LINES_MAX })
  }
  try {
    const { format, error } = await reader.read({
      pieces: readFile(database, file),
      take: async (items) => await keep(await interpreter.take(items)),
      signal: AbortSignal.timeout(READING_MS),
    })
    if (error !== null) {
      const place = error.line === null ? '' : ` (line ${error.line}${error.path === '' ? '' : `, ${error.path}`})`
      refuseField('/file', 'invalid_format', `The file cannot be read: ${error.message}${place}`)
    }
    await keep(await interpreter.end())
    if (format === null || !interpreter.isOurs)
      refuseField('/file', 'not_ours', 'The file names no collection, mandate or file of this operator.')
    return { format, ...counts }
  } catch (error) {
    await dropResponseLines(database, id)
    throw error
  }
}

async function applyResponse(
  deps: DebitResponseDeps,
  by: Caller<'person'>,
  id: string,
  command: Pick<Command<unknown>, 'idempotency'>,
): Promise<CommandAnswer<DebitResponse, 200>> {
  const { ids, clock } = deps
  return await decideOnce(deps, command, 200, async (client) => {
    const response = (await lockResponse(client, by.tenant.id, id)) ?? refuseNotFound()
    if (response.status !== 'ready') refuseTransition(`The answer is ${response.status}.`, response.status, ['ready'])
    if (response.uploadedBy === by.principal.id)
      refuse('insufficient-scope', 'A file is applied by another person than the one who uploaded it.', {
        extra: { requiredCapability: 'operations.manage' },
      })
    const now = clock.now()
    const jobId = ids.next()
    const person = { id: by.principal.id, name: by.principal.name }
    await noteApplying(client, id, person, { jobId, now })
    await recordChange({ client, ids, now }, auditCaller(by), by.tenant.id, {
      action: 'debit_response.applied',
      object: { type: 'debit_response', id },
      before: { status: 'ready' },
      after: { status: 'applying', changes: response.changeCount },
    })
    await requested(deps, client, by, { id: jobId, kind: 'debit_response_apply', responseId: id })
    const applying = await lockResponse(client, by.tenant.id, id)
    if (applying === null) throw new Error(`The answer ${id} is gone.`)
    return { shown: versioned(applying), made: { type: 'job' as const, id: jobId } }
  })
}

const VERSIONS: Readonly<Record<DebitResponseRecord['status'], number>> = { ready: 1, applying: 2, applied: 3 }

/** Shows a response; its version follows from its status. */
const versioned = (record: DebitResponseRecord): Versioned<DebitResponse> => ({
  version: VERSIONS[record.status],
  view: responseView(record),
})

/** Adds the job of a response, and shows it. */
async function requested(
  deps: DebitResponseDeps,
  client: TransactionClient,
  by: Caller<'person'>,
  { id, kind, responseId }: { readonly id: string; readonly kind: JobKind; readonly responseId: string },
) {
  const job: JobRecord = await insertJob(client, {
    id,
    tenantId: by.tenant.id,
    operatorId: by.tenant.id,
    customerId: null,
    shard: shardOf(by.tenant.id),
    kind,
    request: { responseId },
    fingerprint: null,
    subject: { object: 'debit_response', id: responseId },
    requestedBy: by.principal.id,
    requestId: by.requestId,
    now: deps.clock.now(),
  })
  return { shown: createJobView(deps)(job), made: { type: 'job' as const, id } }
}

function responseView(record: DebitResponseRecord): DebitResponse {
  const { id, fileName, sha256, format, status, lineCount, changeCount, troubleCount } = record
  const { uploadedBy, uploadedByName, appliedBy, appliedByName, appliedAt, applyJobId, createdAt } = record
  return {
    id,
    jobId: id,
    fileName,
    sha256,
    format,
    status,
    lines: lineCount,
    changes: changeCount,
    troubles: troubleCount,
    uploadedBy,
    uploadedByName,
    appliedBy,
    appliedByName,
    appliedAt: appliedAt === null ? null : timestamp(appliedAt),
    applyJobId,
    createdAt: timestamp(createdAt),
  }
}

function lineView(line: PreviewLine & { readonly result: string | null }): DebitResponseLine {
  const { nth, object, objectId, named, from, to, reasonCode, text, fault, result } = line
  return { line: nth, object, objectId, named, from, to, reasonCode, text, fault, applied: result !== null }
}
