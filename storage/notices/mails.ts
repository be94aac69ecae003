/**
 * The queue of mails. A mail is a row of the transaction that causes it, and a trigger adds the task that sends it
 * (migration 0061); what rolls back sends nothing, and what has committed is sent although its node dies.
 *
 * The mails of notices are written by `insertNotices`, with the notices; every other mail by `writeMail`, which seals
 * its text, because it may hold a link that is a credential: a copy of the database alone opens no account. When a mail
 * has ended its text is removed.
 */
import { timestamp } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { NewMail } from '../../lib/notices/mail.ts'
import type { SecretBox } from '../../lib/security/secret-box.ts'
import type { Database } from '../db/database.ts'
import { entitiesOf, entitiesOfEveryTenant } from '../db/entities.ts'
import type { Brand } from '../../lib/branding/brand.ts'
import { brandOfRow, brandOfTenant, type BrandRow } from '../branding/brands.ts'
import type { TransactionClient } from '../db/transaction.ts'
import { MailRow } from './mail-entity.ts'

/** Mails that have ended are kept for this long: a question whether something was mailed comes within a month. */
const KEPT_DAYS = 30
/** Mails that are removed with one statement. */
const REMOVED_MAX = 1_000

/** The context under which the text of a mail is sealed. */
const contextOf = (id: string): string => `mail ${id}`

export interface MailTx {
  readonly client: TransactionClient
  readonly ids: IdSource
  readonly now: number
}

/** Writes a mail, which is sent after the commit. */
export async function writeMail({ client, ids, now }: MailTx, secrets: SecretBox, mail: NewMail): Promise<void> {
  const { tenantId } = mail
  const id = ids.next()
  const rows =
    tenantId === null
      ? entitiesOfEveryTenant(client, 'a mail to a person who belongs to no tenant')
      : entitiesOf(client, { tenantId })
  await rows.insert(MailRow, {
    id,
    tenantId,
    recipient: mail.to,
    subject: mail.subject,
    sealedText: secrets.seal(mail.text, contextOf(id)),
    dueAt: now,
    createdAt: now,
    validUntil: mail.validUntil ?? null,
  })
}

/** A mail that an attempt has taken. */
export interface TakenMail {
  readonly id: string
  /** Names the attempt: an attempt that begins later takes the mail away from it. */
  readonly lease: string
  readonly to: string
  readonly subject: string
  /** Null when the text was sealed under another SECRETS_KEY. */
  readonly text: string | null
  readonly brand: Brand | null
  /** The attempts that have failed. */
  readonly failures: number
  /** Whether an earlier attempt may have delivered the mail: it ended without an answer of the server. */
  readonly mayBeDelivered: boolean
  /** Epoch milliseconds. */
  readonly writtenAt: number
  /** The end of the link in its text, epoch milliseconds; null: none. */
  readonly validUntil: number | null
}

type MailAttempt = Pick<TakenMail, 'id' | 'lease'>

/** Takes a mail for an attempt; null when it has ended. @throws database errors */
export async function takeMail(
  database: Database,
  secrets: SecretBox,
  { id, lease }: MailAttempt,
): Promise<TakenMail | null> {
  const [row] = await database.query<
    [string, string, string | null, Uint8Array | null, number, boolean, number, number | null, BrandRow | null]
  >({
    name: 'take_mail',
    values: [id, lease],
    text: `update mail m set status = 'sending', lease = $2 where id = $1 and due_at is not null
      returning recipient, subject, text, sealed_text, failures, handed_over_at is not null, floor(extract(epoch from created_at) * 1000)::float8,
        floor(extract(epoch from valid_until) * 1000)::float8, ${brandOfTenant('m.tenant_id')}`,
  })
  if (row === undefined) return null
  const [to, subject, text, sealed, failures, mayBeDelivered, writtenAt, validUntil, brand] = row
  return {
    id,
    lease,
    to,
    subject,
    text: sealed === null ? text : secrets.open(sealed, contextOf(id)),
    brand: brandOfRow(brand),
    failures,
    mayBeDelivered,
    writtenAt,
    validUntil,
  }
}

/**
 * Notes that the end of the letter is handed over now.
 *
 * @returns false when another attempt has taken the mail meanwhile: this one must not deliver
 * @throws database errors
 */
export async function noteHandOver(database: Database, { id, lease }: MailAttempt, now: number): Promise<boolean> {
  const rows = await database.query({
    name: 'hand_over_mail',
    values: [id, lease, timestamp(now)],
    text: `update mail set handed_over_at = $3 where id = $1 and lease = $2 and due_at is not null returning 1`,
  })
  return rows.length === 1
}

/** Ends a mail, and removes its text. @returns false when another attempt has taken it */
export async function endMail(
  database: Database,
  { id, lease }: MailAttempt,
  {
    status,
    reply,
    now,
  }: { readonly status: 'sent' | 'bounced' | 'expired'; readonly reply: string; readonly now: number },
): Promise<boolean> {
  const rows = await database.query({
    name: 'end_mail',
    values: [id, lease, status, reply, timestamp(now)],
    text: `update mail set status = $3, reply = $4, ended_at = $5, due_at = null, lease = null, text = null, sealed_text = null
      where id = $1 and lease = $2 and due_at is not null returning 1`,
  })
  return rows.length === 1
}

/**
 * Gives a mail back until its next attempt. `refused`: the server has said that it has not taken the letter. `failures`
 * is the number of attempts that have failed by now.
 */
export async function deferMail(
  database: Database,
  { id, lease }: MailAttempt,
  {
    dueAt,
    failures,
    reply,
    refused,
  }: { readonly dueAt: number; readonly failures: number; readonly reply: string; readonly refused: boolean },
): Promise<void> {
  await database.query({
    name: 'defer_mail',
    values: [id, lease, timestamp(dueAt), failures, reply, refused],
    text: `update mail set status = 'waiting', due_at = $3, failures = $4, reply = $5, lease = null,
      handed_over_at = case when $6 then null else handed_over_at end where id = $1 and lease = $2 and due_at is not null`,
  })
}

/** The mails that wait, of all nodes. */
export interface MailBacklog {
  readonly count: number
  /** When the oldest was written, epoch milliseconds; null when none waits. */
  readonly oldestAt: number | null
}

export async function mailBacklog(database: Database): Promise<MailBacklog> {
  const [row] = await database.query<[number, number | null]>({
    name: 'mail_backlog',
    values: [],
    text: `select count(*)::float8, floor(extract(epoch from min(created_at)) * 1000)::float8 from mail where due_at is not null`,
  })
  return { count: row?.[0] ?? 0, oldestAt: row?.[1] ?? null }
}

/** Removes mails that ended long ago, a limited number at a time. @returns how many */
export async function removeOldMails(database: Database, now: number): Promise<number> {
  const rows = await database.query({
    name: 'remove_old_mails',
    values: [timestamp(now), REMOVED_MAX],
    text: `delete from mail where id in (select id from mail where ended_at < $1::timestamptz - interval '${KEPT_DAYS} days' order by ended_at limit $2) returning 1`,
  })
  return rows.length
}
