/**
 * Incoming bulk payments: a file in a form, or rows in a request.
 *
 *  * The file is streamed to storage and hashed on the way; no process holds all of it. Until a row refers to it the
 *    file is temporary, so a refused upload leaves no file behind.
 *  * An idempotency key covers the fields and the content of the file, whatever parts the form has.
 *  * Faults of the file or of its rows do not refuse the upload: a job finds them, and the bulk payment reports them.
 */
import { BULK_FILE_BYTES_MAX } from '../../lib/bulk-payments/limits.ts'
import { ProblemError, type FieldError } from '../../lib/base/problems.ts'
import { formatOf, messageHeadOf } from '../../workers/bulk-payments/readers.ts'
import { withUpload } from '../../lib/commands/idempotency.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import {
  type BulkPayment,
  BulkPaymentFields,
  type BulkPaymentCreate,
} from '../../lib/bulk-payments/bulk-payment-schema.ts'
import type { ReadUpload } from '../documents/uploads.ts'
import { compileBody } from '../../lib/contract/validation.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'
import { isRecorded } from '../commands/run-once.ts'
import { openOnce, storeFile, type BulkUploadDeps } from './open-bulk-payment.ts'

/**
 * The commands for uploads. Every refusal is thrown as a problem, except the outcomes recorded under an idempotency
 * key.
 */
export interface BulkUploadCommands {
  /** @throws ProblemError `payload-too-large`, `validation-error`; `duplicate-file` is recorded under its key */
  upload(by: Caller, command: Omit<Command<null>, 'body'>, read: ReadUpload): Promise<CommandAnswer<BulkPayment, 202>>
  create(by: Caller, command: Command<BulkPaymentCreate>): Promise<CommandAnswer<BulkPayment, 202>>
}

/**
 * The first bytes of a file that stay in memory while the rest goes to storage: enough to find its format and the id of
 * a message.
 */
const BEGINNING_BYTES = 64 * 1024
const BOOLEANS = ['requireAllValid', 'allowDuplicate', 'createMissingRecipients', 'skipPayeeVerification'] as const

const fieldsValidator = compileBody(BulkPaymentFields, undefined)

/** Creates the commands for uploads. */
export function createBulkUploads(deps: BulkUploadDeps): BulkUploadCommands {
  return {
    upload: (by, command, read) => uploadBulkFile(deps, by, command, read),
    create: (by, command) => createBulkPayment(deps, by, command),
  }
}

/**
 * Takes a file in a form.
 *
 * @throws ProblemError `payload-too-large`, `validation-error`; `duplicate-file` is recorded under its key
 */
async function uploadBulkFile(
  deps: BulkUploadDeps,
  by: Caller,
  command: Omit<Command<null>, 'body'>,
  read: ReadUpload,
): Promise<CommandAnswer<BulkPayment, 202>> {
  let beginning: Uint8Array = new Uint8Array()
  const { file, fields } = await read(
    { maxBytes: BULK_FILE_BYTES_MAX, types: 'any', fields: Object.keys(BulkPaymentFields.properties) },
    ({ fileName, bytes }) =>
      storeFile(
        deps,
        by.tenant.id,
        fileName,
        watched(bytes, (first) => {
          beginning = first
        }),
      ),
  )
  const { value, errors } = fieldsValidator.validate(plainFields(fields), true)
  const uploaded = withUpload(command, { fields, file })
  if (errors.length > 0 && !(await isRecorded(deps, uploaded))) refuseFields(errors)
  const options = value as BulkPaymentFields
  const format = options.format ?? formatOf(beginning)
  return await openOnce(
    deps,
    by,
    uploaded,
    async () => ({
      file,
      fileName: file.fileName,
      format,
      messageId: messageHeadOf(format)?.idOf(beginning) ?? null,
    }),
    () => (errors.length > 0 ? refuseFields(errors) : options),
  )
}

/** Takes rows in a request. @throws ProblemError `validation-error`; `duplicate-file` is recorded under its key */
async function createBulkPayment(
  deps: BulkUploadDeps,
  by: Caller,
  command: Command<BulkPaymentCreate>,
): Promise<CommandAnswer<BulkPayment, 202>> {
  const { rows, ...options } = command.body
  const file = await storeFile(deps, by.tenant.id, 'rows.json', pieces(Buffer.from(JSON.stringify(rows))))
  return await openOnce(
    deps,
    by,
    command,
    async () => ({ file, fileName: null, format: 'json', messageId: null }),
    () => options,
  )
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
