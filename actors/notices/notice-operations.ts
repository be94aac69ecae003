/** The notices of a person, and the person's preferences for them. */
import { NO_PREFERENCES, NOTICE_PREFERENCES } from '../../lib/notices/notices.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import { readNotice } from '../../storage/notices/notices.ts'
import { getNotice, listNotices } from '../../storage/notices/notice-queries.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import { readSetting, writeSetting } from '../../storage/customers/settings.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { SettingsDeps } from '../customers/settings-deps.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type { Notification, notificationList, NotificationPreferences } from '../../lib/notices/notification-schema.ts'

export interface NoticeReads {
  listNotifications(userId: string, query: ListQuery<typeof notificationList>): Promise<ListResult<Notification>>
  notificationPreferences(userId: string): Promise<NotificationPreferences>
}

export interface NoticeCommands {
  /** @throws ProblemError `not-found` when the notice is not this person's */
  readNotification(userId: string, tenantId: string, id: string): Promise<Notification>
  setNotificationPreferences(userId: string, preferences: NotificationPreferences): Promise<NotificationPreferences>
}

export function createNotices({ database, clock }: SettingsDeps): {
  readonly reads: NoticeReads
  readonly commands: NoticeCommands
} {
  const db = readDatabase(database)
  return {
    reads: {
      listNotifications: (userId, query) => listNotices(db, userId, query),
      notificationPreferences: async (userId) =>
        ({
          ...NO_PREFERENCES,
          ...((await readSetting(database.pool, userId, NOTICE_PREFERENCES))?.value as object | undefined),
        }) as NotificationPreferences,
    },
    commands: {
      async readNotification(userId, tenantId, id) {
        await inTransaction(database, (client) => readNotice(client, { id, userId, tenantId, now: clock.now() }))
        return (await getNotice(db, userId, tenantId, id)) ?? refuseNotFound()
      },
      async setNotificationPreferences(userId, preferences) {
        await inTransaction(database, (client) =>
          writeSetting(client, {
            ownerId: userId,
            name: NOTICE_PREFERENCES,
            value: preferences,
            by: userId,
            now: clock.now(),
          }),
        )
        return preferences
      },
    },
  }
}
