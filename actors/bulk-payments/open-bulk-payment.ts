/**
 * Opens the bulk payment of an uploaded file, with the job that checks its rows.
 *
 * The file is streamed to storage and hashed on the way; no process holds all of it. Until a row refers to it the file
 * is temporary, so a refused upload leaves no file behind.
 */
import type { BulkPayment } from '../../lib/bulk-payments/bulk-payment-schema.ts'
import { beginValidation } from './bulk-validations.ts'
import { writeBulkTrail } from './bulk-trail.ts'
import { checkDate } from '../../lib/payments/payment-request.ts'
import { DUPLICATE_FILE_MS, DUPLICATE_MESSAGE_MS } from '../../lib/bulk-payments/bulk-payment.ts'
import { BULK_FORMATS, type BulkFormat } from '../../lib/bulk-payments/formats.ts'
import { BULK_FILE_BYTES_MAX, BULK_NAME_CHARACTERS_MAX } from '../../lib/bulk-payments/limits.ts'
import { orderNumber, type IdSource } from '../../lib/base/ids.ts'
import { refuse, refuseField } from '../../lib/base/problems.ts'
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
import type { Feature } from '../../lib/operators/features.ts'
import type { OrderNumbers } from '../../storage/payments/order-numbers.ts'
import { bulkPaymentView } from './bulk-payment-operations.ts'
import { auditCaller } from '../commands/trail.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { decideOnce, type RunOnceDeps } from '../commands/run-once.ts'
import type { BulkPaymentFields, BulkPaymentCreate } from '../../lib/bulk-payments/bulk-payment-schema.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'

export interface BulkUploadDeps extends RunOnceDeps {
  readonly database: Database
  readonly ids: IdSource
  readonly clock: { now(): number }
  readonly problemBase: string
  readonly orderNumbers: Pick<OrderNumbers, 'take'>
  readonly hasFeature: (tenantId: string, feature: Feature) => Promise<boolean>
}

export type BulkUploadOptions = Omit<BulkPaymentCreate, 'rows'> & Pick<BulkPaymentFields, 'delimiter'>

/** An uploaded file and the facts known about it. */
export interface ArrivedBulkFile {
  readonly file: StoredFile
  readonly fileName: string | null
  readonly format: BulkFormat
  readonly messageId: string | null
}

/** Streams the content of a file to storage, as a temporary file. */
export function storeFile(
  { database, ids, clock }: BulkUploadDeps,
  tenantId: string,
  fileName: string,
  bytes: AsyncIterable<Uint8Array>,
): Promise<StoredFile> {
  return writeFile(database, bytes, {
    id: ids.next(),
    tenantId,
    fileName,
    contentType: 'application/octet-stream',
    maxBytes: BULK_FILE_BYTES_MAX,
    now: clock.now(),
  })
}

/**
 * Opens the bulk payment of a file, or answers as the key has been answered.
 *
 * @throws ProblemError `validation-error`
 */
export async function openOnce(
  deps: BulkUploadDeps,
  by: Caller,
  command: Omit<Command<unknown>, 'body'>,
  arrived: () => Promise<ArrivedBulkFile>,
  options: () => BulkUploadOptions,
): Promise<CommandAnswer<BulkPayment, 202>> {
  const number = await deps.orderNumbers.take()
  const mayCollect = await deps.hasFeature(by.tenant.id, 'payments.direct_debits')
  return await decideOnce(deps, command, 202, async (client) => {
    const file = await arrived()
    if (BULK_FORMATS[file.format].makes !== 'payments' && !mayCollect)
      refuse('feature-disabled', 'The operator has switched payments.direct_debits off.', {
        extra: { feature: 'payments.direct_debits' },
      })
    const tx = { client, ids: deps.ids, now: deps.clock.now() }
    const record = await openBulkPayment(tx, by, file, options(), number)
    return { shown: bulkPaymentView(record), made: { type: 'bulk_payment', id: record.id } }
  })
}

/** Creates the bulk payment of a file, with the job that checks its rows. */
async function openBulkPayment(
  tx: ApprovalTx,
  by: Caller,
  { file, fileName, format, messageId }: ArrivedBulkFile,
  options: BulkUploadOptions,
  number: bigint,
): Promise<BulkRecord> {
  const { client, ids, now } = tx
  const customerId = by.tenant.id
  const { sourceBalanceId = null, executionDate = null, skipPayeeVerification = false } = options
  const { operatorId, shard } = await requireUploader(client, customerId, format, options)
  checkDate(executionDate, 'internal', now)
  const { duplicateOf, warnings } = await findDuplicates(tx, customerId, file, messageId, options)
  const id = ids.next()
  const text = orderNumber('BLK', number)
  const trail = auditCaller(by)
  const jobId = await beginValidation(
    tx,
    { id, customerId, operatorId, shard },
    { actor: trail.actor, requestId: by.requestId },
  )
  await keepFile(client, file.id, null)
  const { requireAllValid = false, createMissingRecipients = false, delimiter = null, decimalSeparator = '.' } = options
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

/**
 * Reads the customer that uploads a file, and checks its balance and options.
 *
 * @throws ProblemError `validation-error`
 */
async function requireUploader(
  client: ApprovalTx['client'],
  customerId: string,
  format: BulkFormat,
  { sourceBalanceId = null, skipPayeeVerification = false, createMissingRecipients = false }: BulkUploadOptions,
): Promise<Pick<Awaited<ReturnType<typeof uploaderOf>>, 'operatorId' | 'shard'>> {
  const { operatorId, shard, customerType } = await uploaderOf(client, customerId)
  const { makes } = BULK_FORMATS[format]
  if (makes !== 'payments')
    for (const [field, isGiven] of Object.entries({
      sourceBalanceId: sourceBalanceId !== null,
      skipPayeeVerification,
      createMissingRecipients,
    }))
      if (isGiven) refuseField(`/${field}`, 'not_applicable', `A file of ${makes} pays nobody.`)
  if (skipPayeeVerification && customerType !== 'business')
    refuseField('/skipPayeeVerification', 'not_applicable', 'Only businesses can do without the check of names.')
  if (sourceBalanceId !== null) {
    const status = await bulkSourceStatus(client, customerId, sourceBalanceId)
    if (status === null) refuseField('/sourceBalanceId', 'not_found', 'No such balance.')
    if (status !== 'active') refuseField('/sourceBalanceId', 'inactive', `The balance is ${status}.`)
  }
  return { operatorId, shard }
}

/**
 * Finds an earlier upload of the same content or of the same message.
 *
 * @throws ProblemError `duplicate-file` unless the caller allows a duplicate
 */
async function findDuplicates(
  { client, now }: ApprovalTx,
  customerId: string,
  file: StoredFile,
  messageId: string | null,
  options: BulkUploadOptions,
): Promise<{ readonly duplicateOf: string | null; readonly warnings: readonly FileWarning[] }> {
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
  return { duplicateOf, warnings }
}
