/** Links of invitations and password resets in tests, as people get them. */
import { randomBytes, randomUUID } from 'node:crypto'
import { systemClock } from '../../../lib/base/clock.ts'
import { createIdSource } from '../../../lib/base/ids.ts'
import type { StaffRole } from '../../../lib/identity/capabilities.ts'
import { generateInvitationToken, INVITATION_MS, invitationTokenHash } from '../../../lib/identity/invitation.ts'
import { emailKey } from '../../../lib/identity/password-rules.ts'
import { Database } from '../../../storage/db/database.ts'
import { inTransaction } from '../../../storage/db/transaction.ts'
import { insertInvitation } from '../../../storage/identity/invitations.ts'
import { mailsOf } from '../../support/mails.ts'
import type { Person } from '../../support/person.ts'
import { until } from '../../support/until.ts'
import type { World } from '../../support/world.ts'

/** Finds the token in the newest mail to an address, after the path of its page. */
export async function tokenFor(world: World, email: string, page: 'invitations' | 'password-resets'): Promise<string> {
  return await until(`a mail to ${email}`, async () => {
    const mail = (await mailsOf(world)).findLast((text) => text.includes(`To: ${email}`))
    return new RegExp(`/${page}/([A-Za-z0-9_-]+)`).exec(mail ?? '')?.[1] ?? null
  })
}

/** Invites somebody to the customer of a signed-in owner. @returns the token of the link */
export async function inviteMember(
  world: World,
  owner: Person,
  invited: { readonly email: string; readonly role: string },
): Promise<string> {
  const base = `/customers/${owner.tenantId}`
  await owner.stepUp('settings.change')
  const domains = `${base}/settings/approved-domains`
  const { headers } = await owner.get(domains)
  await owner.send('PUT', domains, { domains: [invited.email.split('@')[1]] }, { 'if-match': headers.get('etag')! })
  await owner.stepUp('membership.change')
  const made = await owner.post(`${base}/invitations`, invited)
  if (made.status !== 201) throw new Error(made.text)
  return await tokenFor(world, invited.email, 'invitations')
}

/** Writes an invitation to the staff of the sandbox's operator. @returns its id, and the token of its link */
export async function inviteStaff(
  world: World,
  {
    email,
    role,
    name = null,
    byName = 'Sandbox Admin',
  }: {
    readonly email: string
    readonly role: StaffRole
    readonly name?: string | null
    readonly byName?: string
  },
): Promise<{ readonly id: string; readonly token: string }> {
  const token = generateInvitationToken(randomBytes)
  const [id, by, now] = [createIdSource(systemClock).next(), randomUUID(), world.now()]
  const database = new Database(world.databaseUrl, 1)
  try {
    await inTransaction(database, async (client) => {
      await insertInvitation(client, {
        id,
        operatorId: world.service.sandbox!.operator.id,
        customerId: null,
        email,
        emailKey: emailKey(email),
        name,
        role,
        teamIds: [],
        tokenSha256: invitationTokenHash(token),
        by: { id: by, name: byName },
        expiresAt: now + INVITATION_MS,
        now,
      })
    })
  } finally {
    await database.close()
  }
  return { id, token }
}

/** Asks for a new password. @returns the token of the link */
export async function askForReset(world: World, email: string): Promise<string> {
  const { status } = await fetch(`${world.url}/v1/password-resets`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email }),
  })
  if (status !== 202) throw new Error(`The answer was ${status}.`)
  return await tokenFor(world, email, 'password-resets')
}
