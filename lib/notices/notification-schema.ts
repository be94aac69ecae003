/** Schemas of notifications and their preferences. */
import Type, { type Static } from 'typebox'
import { NOTICE_TYPES } from './notices.ts'
import { list } from '../contract/list.ts'
import { Nullable, Timestamp, Uuid, Words } from '../contract/primitives.ts'

const NotificationType = Words('NotificationType', NOTICE_TYPES)

export const Notification = Type.Object(
  {
    id: Uuid,
    tenantId: Uuid,
    type: NotificationType,
    title: Type.String(),
    text: Type.String(),
    object: Nullable(Type.Object({ type: Type.String(), id: Uuid }, { title: 'NotificationObject' })),
    readAt: Nullable(Timestamp),
    createdAt: Timestamp,
  },
  { title: 'Notification' },
)
export type Notification = Static<typeof Notification>

const Types = Type.Array(NotificationType, { uniqueItems: true, maxItems: NOTICE_TYPES.length })
export const NotificationPreferences = Type.Object(
  {
    mutedInApp: Types,
    mutedByMail: Types,
  },
  { title: 'NotificationPreferences', additionalProperties: false, description: 'Types that are not named are sent.' },
)
export type NotificationPreferences = Static<typeof NotificationPreferences>

export const notificationList = list({
  filters: {
    type: { kind: 'words', values: NOTICE_TYPES },
    read: { kind: 'boolean' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})
