/** Alerts to people about their own security: a notice in each of their tenants, and a mail. */
import { writeMail } from '../../storage/notices/mails.ts'
import { insertNotices } from '../../storage/notices/notices.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { ChangeTransaction } from '../commands/changes.ts'
import type { IdentityDeps } from './identity-deps.ts'

/** The text of an alert, and the object that it is about. */
export interface SecurityAlert {
  readonly title: string
  readonly text: string
  readonly object: { readonly type: string; readonly id: string } | null
}

/**
 * Writes an alert to the person: a notice for each of their tenants, and one mail. The mail is written without regard to
 * the person's preferences, because another person may have changed them.
 */
export async function alertPerson(
  tx: ChangeTransaction,
  { secrets }: Pick<IdentityDeps, 'secrets'>,
  { session }: Pick<Caller<'self'>, 'session'>,
  { title, text, object }: SecurityAlert,
): Promise<void> {
  const { client, ids, now } = tx
  const { userId, email, memberships } = session
  for (const { tenantId } of memberships) {
    const notice = { tenantId, type: 'security_alert', title, text, object } as const
    await insertNotices(client, ids, [userId], notice, now, { byMail: false })
  }
  await writeMail(tx, secrets, { tenantId: memberships[0]?.tenantId ?? null, to: email, subject: title, text })
}
