/** Attaches a file to a transaction, and deletes an attachment. */
import { ATTACHMENTS_MAX, CONTENT_TYPES, maxBytesOf } from '../../lib/documents/document.ts'
import { refuse, refuseNotFound } from '../../lib/base/problems.ts'
import { countAttachment, findDocument } from '../../storage/documents/documents.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Attachment } from '../../lib/documents/document-schema.ts'
import type { ReadUpload } from './uploads.ts'
import type { CommandAnswer } from '../../lib/commands/command.ts'
import { withUpload } from '../../lib/commands/idempotency.ts'
import { runChange } from '../commands/changes.ts'
import { decideOnce } from '../commands/run-once.ts'
import {
  keepUpload,
  registerFile,
  removeFile,
  shownAttachment,
  lockFile,
  type DocumentDeps,
  type Uploading,
} from './stored-documents.ts'

/**
 * Attaches a file to a transaction of the tenant.
 *
 * @throws ProblemError `not-found`, `limit-reached`, and what `decideOnce` throws
 */
export async function attachFile(
  deps: DocumentDeps,
  by: Caller,
  transactionId: string,
  command: Uploading,
  read: ReadUpload,
): Promise<CommandAnswer<Attachment, 201>> {
  if (!(await deps.transactions.exists(by.tenant, transactionId))) refuseNotFound()
  const uploaded = await read(
    { maxBytes: maxBytesOf('transaction_attachment'), types: CONTENT_TYPES, fields: [] },
    keepUpload(deps, by.tenant.id),
  )
  return await decideOnce(deps, withUpload(command, uploaded), 201, async (client) => {
    const tx = { client, ids: deps.ids, now: deps.clock.now() }
    const count = (await countAttachment(client, by.tenant.id, transactionId, 1)) ?? refuseNotFound()
    if (count > ATTACHMENTS_MAX)
      refuse('limit-reached', `A transaction may have at most ${ATTACHMENTS_MAX} attachments.`, {
        extra: { limit: ATTACHMENTS_MAX, resource: 'attachment' },
      })
    const attached = await registerFile(tx, by, uploaded.file, {
      customerId: by.tenant.id,
      transactionId,
      purpose: null,
    })
    return { shown: shownAttachment(attached), made: { type: 'attachment', id: attached.id } }
  })
}

/** Deletes an attachment. @throws ProblemError `not-found`, `precondition-failed` */
export async function deleteAttachment(
  deps: DocumentDeps,
  by: Caller,
  id: string,
  expected: number | bigint | null,
): Promise<void> {
  await runChange(deps, async (tx) => {
    const { client } = tx
    // Lock order: the transaction before the file, as when a file is attached.
    const found = (await findDocument(client, 'attachment', by.tenant.id, id)) ?? refuseNotFound()
    await countAttachment(client, by.tenant.id, found.transactionId as string, -1)
    await removeFile(tx, by, await lockFile(tx, by.tenant.id, 'attachment', id, expected))
  })
}
