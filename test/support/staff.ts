/** Staff of the sandbox's operator who join as people do: by an invitation, its mail, a password and a second factor. */
import type { StaffRole } from '../../lib/identity/capabilities.ts'
import { mailsOf } from './mails.ts'
import { Person } from './person.ts'
import type { World } from './world.ts'

const PASSWORD = 'correct horse battery'

/** Returns the token of the newest link that was mailed to an address. @throws when none was */
export async function mailedToken(world: World, email: string): Promise<string> {
  const mails = (await mailsOf(world)).filter((mail) => mail.includes(`To: ${email}`))
  const token = mails.at(-1)?.match(/inv_[A-Za-z0-9_-]+/)?.[0]
  if (token === undefined) throw new Error(`No link was mailed to ${email}.`)
  return token
}

/** Has an administrator invite a person, who accepts and signs in with both factors. */
export async function hire(world: World, admin: Person, email: string, role: StaffRole): Promise<Person> {
  await admin.stepUp('membership.change')
  const invited = await admin.post('/operator/staff-invitations', { email, role, name: `The ${role}` })
  if (invited.status !== 201) throw new Error(invited.text)
  return await join(world, email, await mailedToken(world, email))
}

/** Has a new person accept an invitation, add a second factor and sign in. */
export async function join(world: World, email: string, token: string): Promise<Person> {
  const personWith = (totpSecret: string) =>
    new Person({
      url: () => world.url,
      login: { email, password: PASSWORD, totpSecret },
      tenantId: world.service.sandbox!.operator.id,
      now: world.now,
    })
  const guest = personWith('')
  const accepted = await guest.send('POST', `/invitations/${token}/accept`, { password: PASSWORD }, {}, null)
  if (accepted.status !== 200) throw new Error(accepted.text)
  await guest.signIn()
  const factor = (await guest.post<{ id: string; secret: string }>('/users/me/mfa-factors', { kind: 'totp' })).body
  const person = personWith(factor.secret)
  await guest.post(`/users/me/mfa-factors/${factor.id}/verify`, { code: person.code() })
  return await person.signIn()
}
