/** A notice to a user within the service. */
import { defineEntity, p } from '@mikro-orm/core'
import { instant, managed } from '../db/entity-types.ts'

export const Notification = managed(
  defineEntity({
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
      readAt: instant().fieldName('read_at').nullable(),
      createdAt: instant().fieldName('created_at'),
    },
    indexes: [{ name: 'notification_user', properties: ['userId', 'id'] }],
  }),
)
