/**
 * Notices to users within the service, and by mail. One statement writes the notices and the mails of all users that a
 * change concerns, with a look at the preferences of each, in the transaction of the change.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { NOTICE_PREFERENCES, type NoticeType } from '../../lib/notices/notices.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { entitiesOf } from '../db/entities.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { Notification } from './notification-entity.ts'

/** The text and the subject of a notice, and of its mail. */
export interface Notice {
  readonly tenantId: string
  readonly type: NoticeType
  readonly title: string
  readonly text: string
  readonly object: { readonly type: string; readonly id: string } | null
}

/**
 * Writes a notice and a mail for each of these users, as far as their preferences allow it; ids that are no users (an
 * API key's, the service's own) are skipped. `byMail` false: no mail, because another notice of the same event is
 * mailed to the same users.
 */
export async function insertNotices(
  client: TransactionClient,
  ids: IdSource,
  userIds: readonly string[],
  notice: Notice,
  now: number,
  { byMail = true }: { readonly byMail?: boolean } = {},
): Promise<void> {
  if (userIds.length === 0) return
  await client.query({
    name: 'insert_notices',
    text: `with person as (
        select t.id, t.mail_id, u.id as user_id, u.email, coalesce(s.value, '{}') as wishes from unnest($1::uuid[], $2::uuid[], $10::uuid[]) t(id, user_id, mail_id)
          join platform_user u on u.id = t.user_id left join setting s on s.owner_id = u.id and s.name = '${NOTICE_PREFERENCES}'),
      told as (
        insert into notification (id, user_id, tenant_id, type, title, text, object, object_id, created_at)
        select id, user_id, $3, $4, $5, $6, $7, $8, $9 from person where not coalesce(wishes->'mutedInApp', '[]') ? $4)
      insert into mail (id, tenant_id, recipient, subject, text, due_at, created_at)
      select mail_id, $3, email, $5, $6, $9, $9 from person where $11 and not coalesce(wishes->'mutedByMail', '[]') ? $4`,
    values: [
      userIds.map(() => ids.next()),
      userIds,
      notice.tenantId,
      notice.type,
      notice.title,
      notice.text,
      notice.object?.type ?? null,
      notice.object?.id ?? null,
      timestamp(now),
      userIds.map(() => ids.next()),
      byMail,
    ],
  })
}

/** Reads the ids of a tenant's active members in one of these roles. */
export async function peopleInRoles(
  client: Pick<TransactionClient, 'query'>,
  tenantId: string,
  roles: readonly string[],
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>({
    name: 'people_in_roles',
    values: [tenantId, roles],
    text: `select u.id from membership m join platform_user u on u.id = m.user_id
      where m.tenant_id = $1 and m.status = 'active' and u.status = 'active' and m.role = any($2) order by u.id`,
  })
  return rows.map(({ id }) => id)
}

/** Marks a notice as read by its user. @returns false when the notice is not the user's */
export async function readNotice(
  client: TransactionClient,
  {
    id,
    userId,
    tenantId,
    now,
  }: { readonly id: string; readonly userId: string; readonly tenantId: string; readonly now: number },
): Promise<boolean> {
  const rows = entitiesOf(client, { tenantId })
  const notice = await rows.lock(Notification, { id, userId })
  if (notice === null) return false
  notice.readAt ??= now
  await rows.save()
  return true
}
