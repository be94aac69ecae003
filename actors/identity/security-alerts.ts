/** Alerts to people about their own security: a notice in each of their tenants, and a mail. */
import type { AlertMail } from '../../storage/customers/alerts.ts'
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
 * Writes an alert to the person for each of their tenants. The mail goes out without regard to the person's
 * preferences, because another person may have changed them.
 *
 * @returns the mail to be sent after the transaction
 */
export async function alertPerson(
  { client, ids, now }: ChangeTransaction,
  { session }: Pick<Caller<'self'>, 'session'>,
  { title, text, object }: SecurityAlert,
): Promise<AlertMail> {
  for (const { tenantId } of session.memberships)
    await insertNotices(client, ids, [session.userId], { tenantId, type: 'security_alert', title, text, object }, now)
  return { to: session.email, subject: title, text }
}

/** Mails alerts without waiting for them. */
export function mailAlerts({ mailer, log }: Pick<IdentityDeps, 'mailer' | 'log'>, mails: readonly AlertMail[]): void {
  for (const mail of mails)
    mailer.send(mail).catch((error: unknown) => log.warn({ err: error }, 'an alert could not be mailed'))
}
