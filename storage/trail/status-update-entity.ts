/** A status that a payment, a transfer or an exchange has had. Only the commit writes it. */
import { defineEntity, p } from '@mikro-orm/core'
import type { StatusUpdate } from '../../lib/decisions/effects.ts'
import { instant } from '../db/entity-types.ts'

export const StatusUpdateRow = defineEntity({
  name: 'StatusUpdateRow',
  tableName: 'status_update',
  properties: {
    objectId: p.uuid().fieldName('object_id').primary(),
    version: p.integer().primary(),
    customerId: p.uuid().fieldName('customer_id'),
    status: p.text().$type<StatusUpdate['status']>(),
    previousStatus: p
      .text()
      .$type<NonNullable<StatusUpdate['previousStatus']>>()
      .fieldName('previous_status')
      .nullable(),
    message: p.text(),
    actor: p.text().$type<StatusUpdate['actor']>(),
    at: instant(),
  },
})
