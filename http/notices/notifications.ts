/** Notifications of a person. */
import { json, page } from '../route/answer.ts'
import { route } from '../route/route.ts'
import { Notification, notificationList, NotificationPreferences } from '../../lib/notices/notification-schema.ts'
import { PageOf } from '../../lib/contract/page.ts'

const shared = {
  tag: 'tenants',
  callers: 'session',
  scope: null,
  tenant: 'any',
  idempotency: 'none',
  problems: [],
} as const

export const listNotifications = route({
  ...shared,
  method: 'get',
  path: '/notifications',
  operationId: 'listNotifications',
  summary: 'List your notifications',
  list: notificationList,
  success: {
    status: 200,
    description: 'A page of your notifications in this tenant.',
    schema: PageOf('NotificationPage', Notification),
    etag: true,
  },
  handle: async ({ caller, list }, { notices }) =>
    page(list, await notices.listNotifications(caller.session.userId, list)),
})

export const readNotification = route({
  ...shared,
  method: 'post',
  path: '/notifications/{notificationId}/read',
  operationId: 'readNotification',
  summary: 'Mark a notification as read',
  success: { status: 200, description: 'The notification.', schema: Notification },
  handle: async ({ caller, params }, { notices }) =>
    json(200, await notices.readNotification(caller.session.userId, caller.tenant.id, params.notificationId)),
})

export const getNotificationPreferences = route({
  ...shared,
  method: 'get',
  path: '/notification-preferences',
  operationId: 'getNotificationPreferences',
  summary: 'Read your notification preferences',
  success: { status: 200, description: 'Your preferences.', schema: NotificationPreferences },
  handle: async ({ caller }, { notices }) => json(200, await notices.notificationPreferences(caller.session.userId)),
})

export const updateNotificationPreferences = route({
  ...shared,
  method: 'put',
  path: '/notification-preferences',
  operationId: 'updateNotificationPreferences',
  summary: 'Change your notification preferences',
  body: NotificationPreferences,
  success: { status: 200, description: 'Your preferences.', schema: NotificationPreferences },
  handle: async ({ caller, body }, { notices }) =>
    json(200, await notices.setNotificationPreferences(caller.session.userId, body)),
})
