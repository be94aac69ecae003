/**
 * Notices to users within the service. Mails about the same subject go out after the transaction. One statement writes
 * the notices of all users that a change concerns, with a look at the preferences of each.
 */
import { timestamp } from '../../lib/base/clock.ts'
import { NOTICE_PREFERENCES, type NoticeType } from '../../lib/notices/notices.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { entitiesOf } from '../db/entities.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { Notification } from './notification-entity.ts'

/** The text and the subject of a notice. */
export interface Notice {
  readonly tenantId: string
  readonly type: NoticeType
  readonly title: string
  readonly text: string
  readonly object: { readonly type: string; readonly id: string } | null
}

/**
 * Writes a notice for each of these users whose preferences allow it; ids that are no users (an API key's, the
 * service's own) are skipped. Returns the addresses of users who want a mail as well.
 */
export async function insertNotices(
  client: TransactionClient,
  ids: IdSource,
  userIds: readonly string[],
  notice: Notice,
  now: number,
): Promise<readonly string[]> {
  if (userIds.length === 0) return []
  const { rows } = await client.query<{ email: string }>({
    name: 'insert_notices',
    text: `with person as (
        select t.id, u.id as user_id, u.email, coalesce(s.value, '{}') as wishes from unnest($1::uuid[], $2::uuid[]) t(id, user_id)
          join platform_user u on u.id = t.user_id left join setting s on s.owner_id = u.id and s.name = '${NOTICE_PREFERENCES}'),
      told as (
        insert into notification (id, user_id, tenant_id, type, title, text, object, object_id, created_at)
        select id, user_id, $3, $4, $5, $6, $7, $8, $9 from person where not coalesce(wishes->'mutedInApp', '[]') ? $4)
      select email from person where not coalesce(wishes->'mutedByMail', '[]') ? $4`,
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
    ],
  })
  return rows.map(({ email }) => email)
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
