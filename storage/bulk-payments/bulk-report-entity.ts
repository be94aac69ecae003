/** The latest report on a bulk payment. */
import { defineEntity, p } from '@mikro-orm/core'

export const BulkPaymentReport = defineEntity({
  name: 'BulkPaymentReport',
  tableName: 'bulk_payment_report',
  properties: {
    bulkPaymentId: p.uuid().fieldName('bulk_payment_id').primary(),
    format: p.text().primary(),
    state: p.text(),
    fileId: p.uuid().fieldName('file_id'),
  },
})
