/**
 * Incoming bulk payments: a file in a form, or rows in a request.
 *
 *  * The file is streamed to storage and hashed on the way; no process holds all of it. Until a row refers to it the
 *    file is temporary, so a refused upload leaves no file behind.
 *  * An idempotency key covers the fields and the content of the file, whatever parts the form has.
 *  * Faults of the file or of its rows do not refuse the upload: a job finds them, and the bulk payment reports them.
 */
import type { Jobs } from '../jobs/jobs.ts'
import { beginValidation } from './bulk-validations.ts'
import { writeBulkTrail } from './bulk-trail.ts'
import { checkDate } from '../payments/submit-payment.ts'
import { DUPLICATE_FILE_MS, DUPLICATE_MESSAGE_MS } from '../../lib/bulk-payments/bulk-payment.ts'
import type { BulkFormat } from '../../lib/bulk-payments/formats.ts'
import { BULK_FILE_BYTES_MAX, BULK_NAME_CHARACTERS_MAX } from '../../lib/bulk-payments/limits.ts'
import { orderNumber, type IdSource } from '../../lib/base/ids.ts'
import { ProblemError, refuse, refuseField, type FieldError } from '../../lib/base/problems.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import { bulkSourceStatus, uploaderOf } from '../../storage/bulk-payments/bulk-lookups.ts'
import {
  insertBulk,
  lockUploadsOf,
  uploadOfFile,
  uploadOfMessage,
  type BulkRecord,
  type FileWarning,
} from '../../storage/bulk-payments/bulk-payments.ts'
import type { Database } from '../../storage/db/database.ts'
import { keepFile, writeFile, type StoredFile } from '../../storage/documents/files.ts'
import type { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import { formatOf, messageHeadOf } from '../../workers/bulk-payments/readers.ts'
import { bulkPaymentView } from './bulk-payment-operations.ts'
import { fingerprintOf } from '../../lib/commands/idempotency.ts'
import { auditCaller } from '../commands/trail.ts'
import type { ByCaller } from '../../lib/identity/caller.ts'
import { decideOnce, type RunOnceDeps } from '../commands/run-once.ts'
import {
  type BulkPayment,
  BulkPaymentFields,
  type BulkPaymentCreate,
} from '../../lib/bulk-payments/bulk-payment-schema.ts'
import type { ReadUpload } from '../documents/uploads.ts'
import { compileBody } from '../../lib/contract/validation.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'

export interface BulkUploadDeps extends RunOnceDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: { now(): number }
  readonly problemBase: string
  readonly orderNumbers: Pick<OrderNumbers, 'take'>
  /** Notified of jobs that are requested on this node. */
  readonly jobs: Pick<Jobs, 'nudge'>
}

/**
 * The commands for uploads. Every refusal is thrown as a problem, except the outcomes recorded under an idempotency
 * key.
 */
export interface BulkUploadCommands {
  /** @throws ProblemError `payload-too-large`, `validation-error`; `duplicate-file` is recorded under its key */
  upload(by: ByCaller, command: Omit<Command<null>, 'body'>, read: ReadUpload): Promise<CommandAnswer<BulkPayment, 202>>
  create(by: ByCaller, command: Command<BulkPaymentCreate>): Promise<CommandAnswer<BulkPayment, 202>>
}

/**
 * The first bytes of a file that stay in memory while the rest goes to storage: enough to find its format and the id of
 * a message.
 */
const BEGINNING_BYTES = 64 * 1024
const BOOLEANS = ['requireAllValid', 'allowDuplicate', 'createMissingRecipients', 'skipPayeeVerification'] as const

const fieldsValidator = compileBody(BulkPaymentFields, undefined)

type Options = Omit<BulkPaymentCreate, 'rows'> & Pick<BulkPaymentFields, 'delimiter'>

/** An uploaded file and the facts known about it. */
interface Arrived {
  readonly file: StoredFile
  readonly fileName: string | null
  readonly format: BulkFormat
  readonly messageId: string | null
}

export function createBulkUploads(world: BulkUploadDeps): BulkUploadCommands {
  const { database, ids, clock, orderNumbers } = world

  const keep = (tenantId: string, fileName: string, bytes: AsyncIterable<Uint8Array>): Promise<StoredFile> =>
    writeFile(database, bytes, {
      id: ids.next(),
      tenantId,
      fileName,
      contentType: 'application/octet-stream',
      maxBytes: BULK_FILE_BYTES_MAX,
      now: clock.now(),
    })

  /** Creates the bulk payment of a file, with the job that checks its rows. */
  async function open(
    tx: ApprovalTx,
    by: ByCaller,
    { file, fileName, format, messageId }: Arrived,
    options: Options,
    number: bigint,
  ): Promise<BulkRecord> {
    const { client, now } = tx
    const customerId = by.tenant.id
    const { sourceBalanceId = null, executionDate = null, skipPayeeVerification = false } = options
    const { operatorId, shard, customerType } = await uploaderOf(client, customerId)
    if (skipPayeeVerification && customerType !== 'business')
      refuseField('/skipPayeeVerification', 'not_applicable', 'Only businesses can do without the check of names.')
    if (sourceBalanceId !== null) {
      const status = await bulkSourceStatus(client, customerId, sourceBalanceId)
      if (status === null) refuseField('/sourceBalanceId', 'not_found', 'No such balance.')
      if (status !== 'active') refuseField('/sourceBalanceId', 'inactive', `The balance is ${status}.`)
    }
    checkDate(executionDate, 'internal', now)
    await lockUploadsOf(client, customerId)
    const sameFile = await uploadOfFile(client, { customerId, fileHash: file.sha256, since: now - DUPLICATE_FILE_MS })
    const sameMessage =
      messageId === null
        ? null
        : await uploadOfMessage(client, { customerId, messageId, since: now - DUPLICATE_MESSAGE_MS })
    const duplicateOf = sameFile ?? sameMessage
    if (duplicateOf !== null && options.allowDuplicate !== true) {
      refuse(
        'duplicate-file',
        sameFile === null
          ? 'A message with this MsgId was sent in during the last 90 days.'
          : 'The same content was sent in during the last 24 hours.',
        { extra: { existingId: duplicateOf } },
      )
    }
    const warnings: FileWarning[] = [
      ...(sameFile === null
        ? []
        : [{ code: 'duplicate_file', message: 'The same content was sent in before.' } as const]),
      ...(sameMessage === null
        ? []
        : [{ code: 'duplicate_message', message: 'A message with this MsgId was sent in before.' } as const]),
    ]
    const id = ids.next()
    const text = orderNumber('BLK', number)
    const trail = auditCaller(by)
    const jobId = await beginValidation(
      tx,
      { id, customerId, operatorId, shard },
      { actor: trail.actor, requestId: by.requestId },
    )
    await keepFile(client, file.id, null)
    const {
      requireAllValid = false,
      createMissingRecipients = false,
      delimiter = null,
      decimalSeparator = '.',
    } = options
    const made = await insertBulk(tx, {
      id,
      customerId,
      operatorId,
      shard,
      number: text,
      name: options.name ?? (fileName === null ? text : [...fileName].slice(0, BULK_NAME_CHARACTERS_MAX).join('')),
      format,
      fileId: file.id,
      fileName,
      fileHash: file.sha256,
      options: { requireAllValid, createMissingRecipients, skipPayeeVerification, delimiter, decimalSeparator },
      sourceBalanceId,
      executionDate,
      messageId,
      duplicateOf,
      jobId,
      createdBy: by.principal.id,
      warnings,
    })
    await writeBulkTrail(tx, trail, 'created', null, made)
    return made
  }

  async function decide(
    by: ByCaller,
    command: Omit<Command<unknown>, 'body'>,
    arrived: () => Promise<Arrived>,
    options: () => Options,
  ): Promise<CommandAnswer<BulkPayment, 202>> {
    const number = await orderNumbers.take()
    const answer = await decideOnce(world, command, 202, async (client) => {
      const record = await open({ client, ids, now: clock.now() }, by, await arrived(), options(), number)
      return { shown: bulkPaymentView(record), made: { id: record.id, location: `/v1/bulk-payments/${record.id}` } }
    })
    world.jobs.nudge()
    return answer
  }

  return {
    async upload(by, command, read) {
      let beginning: Uint8Array = new Uint8Array()
      const { file, fields } = await read(
        { maxBytes: BULK_FILE_BYTES_MAX, types: 'any', fields: Object.keys(BulkPaymentFields.properties) },
        ({ fileName, bytes }) =>
          keep(
            by.tenant.id,
            fileName,
            watched(bytes, (first) => {
              beginning = first
            }),
          ),
      )
      const { value, errors } = fieldsValidator.validate(plainFields(fields), true)
      const idempotency =
        command.idempotency === null
          ? null
          : {
              ...command.idempotency,
              fingerprint: fingerprintOf('POST', command.instance, '', { fields, file: file.sha256 }),
            }
      // A key with an answer keeps its answer, even when the fields are invalid.
      if (errors.length > 0 && (idempotency === null || (await world.findIdempotencyRecord(idempotency.id)) === null))
        refuseFields(errors)
      const options = value as BulkPaymentFields
      const format = options.format ?? formatOf(beginning)
      return await decide(
        by,
        { ...command, idempotency },
        async () => ({
          file,
          fileName: file.fileName,
          format,
          messageId: messageHeadOf(format)?.idOf(beginning) ?? null,
        }),
        () => (errors.length > 0 ? refuseFields(errors) : options),
      )
    },

    async create(by, command) {
      const { rows, ...options } = command.body
      const file = await keep(by.tenant.id, 'rows.json', pieces(Buffer.from(JSON.stringify(rows))))
      return await decide(
        by,
        command,
        async () => ({ file, fileName: null, format: 'json', messageId: null }),
        () => options,
      )
    },
  }
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Passes the stream through; reports its first bytes when it ends or exceeds them. */
async function* watched(
  bytes: AsyncIterable<Uint8Array>,
  tell: (beginning: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  const first: Uint8Array[] = []
  let length = 0
  for await (const piece of bytes) {
    if (length < BEGINNING_BYTES) {
      first.push(piece)
      length += piece.byteLength
    }
    yield piece
  }
  tell(Buffer.concat(first).subarray(0, BEGINNING_BYTES))
}

/** Turns the fields of a form into JSON values; an empty field counts as absent. */
function plainFields(fields: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, text]) => text !== '')
      .map(([name, text]) => [
        name,
        (BOOLEANS as readonly string[]).includes(name) && (text === 'true' || text === 'false')
          ? text === 'true'
          : text,
      ]),
  )
}

function refuseFields(errors: readonly FieldError[]): never {
  throw new ProblemError({ slug: 'validation-error', detail: 'Some fields of the form are not valid.', errors })
}
