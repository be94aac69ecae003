/** The page of an invitation, without a script. */
import t from 'tap'
import type { Member } from '../../../lib/identity/member-schema.ts'
import { DAY_MS } from '../../../lib/base/clock.ts'
import type { PageBody } from '../../support/client.ts'
import { mailsOf } from '../../support/mails.ts'
import { Person } from '../../support/person.ts'
import { createWorld, type World } from '../../support/world.ts'
import { actionsOf, open, submit, valueOf } from '../pages/visit.ts'
import { inviteMember, inviteStaff } from './links.ts'

const PASSWORD = 'seven calm herons wade'

const strangerOf = (world: World, email: string, tenantId: string, password = PASSWORD) =>
  new Person({ url: () => world.url, login: { email, password, totpSecret: '' }, tenantId, now: world.now })

t.test('the link of the mail leads to a page, whose form makes a member who can sign in', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const token = await inviteMember(world, owner, { email: 'Ann@example.com', role: 'approver' })
  const url = `${world.url}/invitations/${token}`
  const mail = (await mailsOf(world)).findLast((text) => text.includes('To: Ann@example.com'))
  t.match(mail, new RegExp(`https?://[^/]+/invitations/${token}`), 'the mail has the address of the page')
  t.notMatch(mail, '/v1/', 'and no operation of the API')

  const page = await open(url)
  t.equal(page.status, 200)
  t.match(page.text, /You are invited to join Sandbox Company/)
  for (const part of ['Sandbox Operator', 'Approver', 'Sandbox Owner', 'Valid until'])
    t.ok(page.text.includes(part), part)
  t.equal(valueOf(page, 'email'), 'Ann@example.com')
  t.strictSame(actionsOf(page), [`/invitations/${token}`])
  t.match(page.html, /name="password" type="password" autocomplete="new-password"/)

  const before = (await owner.get<PageBody<Member>>(`/customers/${owner.tenantId}/memberships`)).text
  const name = `Ann "A." <Ames> & O'Neil`
  const short = await submit(url, { name, password: 'short' })
  t.equal(short.status, 422)
  t.match(short.html, /<title>Error: Your invitation · Sandbox Operator<\/title>/)
  t.match(short.text, /New password: Please enter at least 12 characters\./)
  t.match(
    short.html,
    /id="password"[^>]*aria-describedby="password-hint password-fault"[^>]*aria-invalid="true"[^>]*autofocus/,
  )
  t.equal(valueOf(short, 'name'), name, 'what was typed is kept')
  t.equal(valueOf(short, 'password'), null, 'the password is not')
  t.notMatch(short.html, '<Ames>')
  const both = await submit(url, {})
  t.match(both.text, /Your name: Please fill in this field.*New password: Please fill in this field/)
  t.match((await submit(url, { name, password: 'password1234' })).text, /lists of stolen passwords/)
  t.match((await submit(url, { name: 'x'.repeat(101), password: PASSWORD })).text, /at most 100 characters/)
  t.equal(
    (await owner.get<PageBody<Member>>(`/customers/${owner.tenantId}/memberships`)).text,
    before,
    'refused forms have changed nothing',
  )

  const [done, late] = (
    await Promise.all([1, 2].map(() => submit(url, { name, password: PASSWORD, role: 'owner' })))
  ).toSorted((left, right) => left.status - right.status)
  t.equal(done!.status, 200, done!.text)
  t.match(done!.text, /You are now a member of Sandbox Company\. Sign in with Ann@example\.com and your password\./)
  t.equal(late!.status, 404, 'when two forms use one link, the second finds it used')
  const ann = strangerOf(world, 'ann@example.com', owner.tenantId)
  t.equal((await ann.password()).status, 201)
  const members = (await owner.get<PageBody<Member>>(`/customers/${owner.tenantId}/memberships`)).body.data
  t.match(
    members.find((member) => member.email === 'Ann@example.com'),
    { name, role: 'approver' },
    'the role is that of the invitation',
  )
})

t.test('a person who has an account proves it by its password', async (t) => {
  await using world = await createWorld()
  const owner = world.person('owner')
  const { token } = await inviteStaff(world, { email: owner.login.email, role: 'support' })
  const url = `${world.url}/invitations/${token}`
  const page = await open(url)
  t.match(page.text, /You are invited to the team of Sandbox Operator/)
  t.match(page.text, /There is an account with this e-mail address/)
  t.equal(valueOf(page, 'name'), null)
  t.match(page.html, /autocomplete="current-password"/)
  t.match(page.html, /href="\/password-resets"/)
  const wrong = await submit(url, { password: 'not the right one' })
  t.equal(wrong.status, 422)
  t.match(wrong.text, /Your password: The password is not correct\./)
  const done = await submit(url, { password: owner.login.password })
  t.equal(done.status, 200)
  t.match(done.text, /You are now on the team of Sandbox Operator.*add a second factor/)
})

t.test('the first administrator finds their name, and no inviter', async (t) => {
  await using world = await createWorld()
  const invited = { email: 'first@bank.example', role: 'operator_admin', name: 'Ann Admin', byName: 'System' } as const
  const page = await open(`${world.url}/invitations/${(await inviteStaff(world, invited)).token}`)
  t.equal(valueOf(page, 'name'), 'Ann Admin')
  t.match(page.text, /Your role Administrator/)
  t.notMatch(page.text, /Invited by|System/)
})

t.test('unknown, used and expired links show the same page', async (t) => {
  await using world = await createWorld()
  const invited = { email: 'eve@bank.example', role: 'operations', name: 'Eve' } as const
  const { token: used } = await inviteStaff(world, invited)
  t.equal((await submit(`${world.url}/invitations/${used}`, { name: 'Eve', password: PASSWORD })).status, 200)
  const { token: expired } = await inviteStaff(world, { ...invited, email: 'old@bank.example' })
  await world.advance(8 * DAY_MS)
  const pages = await Promise.all(
    [used, expired, `inv_${'x'.repeat(43)}`, 'short', `${'y'.repeat(200)}`, '%22%3E%3Cscript%3E'].flatMap((token) => [
      open(`${world.url}/invitations/${token}`),
      submit(`${world.url}/invitations/${token}`, { name: 'Eve', password: PASSWORD }),
    ]),
  )
  t.strictSame([...new Set(pages.map(({ status }) => status))], [404])
  t.equal(new Set(pages.map(({ html }) => html)).size, 1, 'byte for byte')
  t.match(pages[0]!.text, /This link does not work/)
  t.notMatch(pages[0]!.text, /eve|bank\.example/i)
})
