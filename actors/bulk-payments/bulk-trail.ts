/** Writes changes of bulk payments into the trail. */
import type { AuditVerb } from '../../lib/base/audit-actions.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type { BulkRecord } from '../../storage/bulk-payments/bulk-payments.ts'
import { writeAudit, type AuditBy } from '../../storage/trail/trail.ts'

function trailOf({
  number,
  name,
  status,
  format,
  fileName,
  fileHash,
  sourceBalanceId,
  executionDate,
  options,
  counts,
  duplicateOf,
}: BulkRecord): object {
  return {
    number,
    name,
    status,
    format,
    fileName,
    fileHash,
    sourceBalanceId,
    executionDate,
    ...options,
    counts,
    duplicateOf,
  }
}

/** Writes a change of a bulk payment into the trail of its customer. */
export async function writeBulkTrail(
  { client, ids, now }: ApprovalTx,
  by: AuditBy,
  action: AuditVerb<'bulk_payment'>,
  before: BulkRecord | null,
  after: BulkRecord,
): Promise<void> {
  await writeAudit(client, {
    ...by,
    id: ids.next(),
    tenantId: after.customerId,
    at: now,
    action: `bulk_payment.${action}`,
    object: { type: 'bulk_payment', id: after.id },
    before: before === null ? null : trailOf(before),
    after: trailOf(after),
  })
}
