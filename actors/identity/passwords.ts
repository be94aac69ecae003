/**
 * Commands that change a password, and that reset it by mail.
 *
 * A request for a reset is answered before the address is looked up, so that neither the content nor the time of the
 * answer shows whether the address has an account. A link works once and for one hour; its use ends every session of
 * the user.
 */
import { hash } from 'node:crypto'
import { emailKey, PASSWORD_RESET_MS, passwordFault, passwordResetPath } from '../../lib/identity/password-rules.ts'
import { refuse, refuseField } from '../../lib/base/problems.ts'
import { clearFailures, findCredentials } from '../../storage/identity/identity-people.ts'
import { findReset, insertReset, setPassword, useReset } from '../../storage/identity/identity-passwords.ts'
import { endSessions } from '../../storage/identity/identity-sessions.ts'
import { tenantOfUser } from '../../storage/identity/members.ts'
import { writeMail, type MailTx } from '../../storage/notices/mails.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { Linked } from '../../lib/contract/linked.ts'
import type { IdentityCommands } from './identity.ts'
import type { IdentityDeps } from './identity-deps.ts'
import { auditPerson } from '../commands/trail.ts'
import { recordPersonalChange } from '../commands/changes.ts'
import { attemptKey, provePassword } from './password-proof.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Source } from '../../lib/commands/caller.ts'
import type { Log } from '../../lib/base/log.ts'

const RESET_TOKEN_BYTES = 32
/** Reset mails to one user within the hour that a link is valid; more would only fill the user's mailbox. */
const RESETS_MAX = 3
/** Requests for resets under way on this node. Each takes milliseconds, so a higher number is a flood and is dropped. */
const UNDER_WAY_MAX = 100

type PasswordCommands = Pick<IdentityCommands, 'changePassword' | 'requestPasswordReset' | 'completePasswordReset'>

/** Work that goes on after the answer. */
class BackgroundWork {
  readonly #log: Log
  readonly #underWay = new Set<Promise<void>>()

  constructor(log: Log) {
    this.#log = log
  }

  /** Runs `work` in the background. A failure is logged without the text of the mail. */
  begin(work: () => Promise<void>, name: string): void {
    if (this.#underWay.size >= UNDER_WAY_MAX) {
      this.#log.warn({ underWay: this.#underWay.size }, `${name} was dropped: too many are under way`)
      return
    }
    const done: Promise<void> = work()
      .catch((error: unknown) => this.#log.warn({ err: error }, `${name} failed`))
      .finally(() => this.#underWay.delete(done))
    this.#underWay.add(done)
  }

  /** Resolves when no work is under way any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay)
  }
}

interface PasswordDeps extends IdentityDeps {
  readonly background: BackgroundWork
}

/** Creates the commands of passwords. `settled` resolves when no request for a reset is under way any more. */
export function createPasswordCommands(identity: IdentityDeps): {
  readonly commands: PasswordCommands
  readonly settled: () => Promise<void>
} {
  const background = new BackgroundWork(identity.log)
  const deps = { ...identity, background }
  return {
    commands: {
      changePassword: (by, body) => changePassword(deps, by, body),
      requestPasswordReset: (email) => {
        // The hour of the link counts from the request, however long the work and the mail take.
        const askedAt = deps.clock.now()
        background.begin(() => mailResetLink(deps, email, askedAt), 'a password reset')
      },
      completePasswordReset: (token, password, from) => completePasswordReset(deps, token, password, from),
    },
    settled: () => background.settled(),
  }
}

/** Changes the password of the person, and ends their other sessions. */
async function changePassword(
  deps: PasswordDeps,
  by: Caller<'self'>,
  { currentPassword, newPassword }: { readonly currentPassword: string; readonly newPassword: string },
): Promise<void> {
  const { database, clock, ids, passwords } = deps
  const { session } = by
  const now = clock.now()
  if ((await provePassword(deps, session.email, currentPassword, now)).person === null)
    refuseField('/currentPassword', 'invalid_value', 'Is not the current password.')
  checkPassword('/newPassword', newPassword, session.email)
  const passwordHash = await passwords.hash(newPassword)
  await inTransaction(database, async (client) => {
    await setPassword(client, session.userId, passwordHash, now)
    const ended = await endSessions(client, { userId: session.userId, except: session.id, now })
    await recordPersonalChange({ client, ids, now }, auditPerson(by), {
      action: 'password.changed',
      object: { type: 'user', id: session.userId },
      before: null,
      after: { endedSessions: ended },
    })
    await writeChangeMail({ client, ids, now }, deps, session)
  })
}

/** Mails a link for a new password when the address has an account. */
async function mailResetLink(
  { database, ids, secrets, random, origin }: PasswordDeps,
  email: string,
  now: number,
): Promise<void> {
  const person = await findCredentials(database, emailKey(email))
  if (person === null || person.status !== 'active') return
  const expiresAt = now + PASSWORD_RESET_MS
  const token = Buffer.from(random(RESET_TOKEN_BYTES)).toString('base64url')
  await inTransaction(database, async (client) => {
    const made = await insertReset(client, {
      tokenSha256: hash('sha256', token, 'hex'),
      userId: person.userId,
      now,
      expiresAt,
      resetsMax: RESETS_MAX,
    })
    if (!made) return
    await writeMail({ client, ids, now }, secrets, {
      tenantId: await tenantOfUser(client, person.userId),
      validUntil: expiresAt,
      to: person.email,
      subject: 'Choose a new password',
      text: [
        `Hello ${person.name},`,
        '',
        'somebody asked for a new password for your account. To choose one, open this page within an hour:',
        '',
        `  ${origin()}${passwordResetPath(token)}`,
        '',
        'If that was not you, there is nothing to do: your password stays as it is.',
      ].join('\r\n'),
    })
  })
}

/** Reads whose password the link resets; null when it is unknown, used or expired. */
export async function openPasswordReset(
  { database, clock }: Pick<IdentityDeps, 'database' | 'clock'>,
  token: string,
): Promise<Linked<{ readonly email: string }> | null> {
  const person = await findReset(database, hash('sha256', token, 'hex'), clock.now())
  if (person === null) return null
  return { view: { email: person.email }, tenantId: await tenantOfUser(database.pool, person.userId) }
}

/** Sets a new password by the token of a link, and ends every session of the person. */
async function completePasswordReset(
  deps: PasswordDeps,
  token: string,
  password: string,
  { source, requestId }: { readonly source: Source; readonly requestId: string },
): Promise<void> {
  const { database, clock, ids, passwords } = deps
  const now = clock.now()
  const tokenSha256 = hash('sha256', token, 'hex')
  const person = await findReset(database, tokenSha256, now)
  if (person === null) refuse('not-found', 'The link is unknown, was used, or has expired.')
  checkPassword('/password', password, person.email)
  const passwordHash = await passwords.hash(password)
  await inTransaction(database, async (client) => {
    // When two requests use one link, the second finds it used.
    if (!(await useReset(client, { tokenSha256, userId: person.userId, now })))
      refuse('not-found', 'The link is unknown, was used, or has expired.')
    await setPassword(client, person.userId, passwordHash, now)
    await clearFailures(client, attemptKey(person.email))
    const ended = await endSessions(client, { userId: person.userId, now })
    await recordPersonalChange(
      { client, ids, now },
      { actor: { type: 'member', id: person.userId, name: person.name }, address: source.address, requestId },
      {
        action: 'password.reset',
        object: { type: 'user', id: person.userId },
        before: null,
        after: { endedSessions: ended },
      },
    )
    await writeChangeMail({ client, ids, now }, deps, person)
  })
}

function checkPassword(field: string, password: string, email: string): void {
  const fault = passwordFault(password, email)
  if (fault !== null) refuseField(field, fault.code, fault.message, fault.params)
}

async function writeChangeMail(
  tx: MailTx,
  { secrets }: PasswordDeps,
  { userId, email }: { readonly userId: string; readonly email: string },
): Promise<void> {
  await writeMail(tx, secrets, {
    tenantId: await tenantOfUser(tx.client, userId),
    to: email,
    subject: 'Your password was changed',
    text: 'The password of your account was changed. If that was not you, ask for a new password at once and tell your administrator.',
  })
}
