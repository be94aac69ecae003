/** A notice to a user within the service. */
import { defineEntity, p } from '@mikro-orm/core'

export const Notification = defineEntity({
  name: 'Notification',
  tableName: 'notification',
  properties: {
    id: p.uuid().primary(),
    userId: p.uuid().fieldName('user_id'),
    tenantId: p.uuid().fieldName('tenant_id'),
    type: p.text(),
    title: p.text(),
    text: p.text(),
    object: p.text().nullable(),
    objectId: p.uuid().fieldName('object_id').nullable(),
    readAt: p.datetime().fieldName('read_at').columnType('timestamptz').nullable(),
    createdAt: p.datetime().fieldName('created_at').columnType('timestamptz'),
  },
  indexes: [{ name: 'notification_user', properties: ['userId', 'id'] }],
})
