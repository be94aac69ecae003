/** The pages of password resets, without a script. */
import t from 'tap'
import { HOUR_MS } from '../../../lib/base/clock.ts'
import { mailsOf } from '../../support/mails.ts'
import { createWorld } from '../../support/world.ts'
import { actionsOf, open, submit, valueOf } from '../pages/visit.ts'
import { tokenFor } from './links.ts'

const NEXT = 'eight calm herons wade'

t.test('a forgotten password is replaced by the page, the mail and the page behind its link', async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const { email } = owner.login
  const form = await open(`${world.url}/password-resets`)
  t.equal(form.status, 200)
  t.strictSame(actionsOf(form), ['/password-resets'])
  t.match((await submit(`${world.url}/password-resets`, { email: 'nobody' })).text, /Please check/)
  const asked = await submit(`${world.url}/password-resets`, { email })
  t.equal(asked.status, 200)
  const unknown = await submit(`${world.url}/password-resets`, { email: 'stranger@example.com' })
  t.equal(unknown.html, asked.html, 'the page tells nothing of the address')
  const token = await tokenFor(world, email, 'password-resets')
  const url = `${world.url}/password-resets/${token}`
  t.notMatch(
    (await mailsOf(world)).findLast((text) => text.includes(`To: ${email}`)),
    '/v1/',
  )

  const page = await open(url)
  t.equal(page.status, 200)
  t.match(page.text, /Choose a new password/)
  t.equal(valueOf(page, 'email'), email, 'password managers find the account')
  t.equal((await open(url)).status, 200, 'reading uses nothing up')
  const refused = await submit(url, { password: 'short' })
  t.equal(refused.status, 422)
  t.match(refused.text, /New password: Please enter at least 12 characters/)
  t.equal((await owner.get('/users/me')).status, 200, 'a refused form has changed nothing')
  t.equal((await owner.password()).status, 201)

  const done = await submit(url, { password: NEXT })
  t.equal(done.status, 200)
  t.match(done.text, /Your password is changed/)
  t.equal((await owner.get('/users/me')).status, 401, 'sessions have ended')
  t.equal((await owner.password(NEXT)).status, 201)
  const used = await submit(url, { password: NEXT })
  t.equal(used.status, 404)
  t.match(used.html, /<a class="button" href="\/password-resets">/, 'the way to another link')
})

t.test('a link of an hour ago shows the page of an unknown one', async (t) => {
  await using world = await createWorld()
  const { email } = world.person('approver').login
  await submit(`${world.url}/password-resets`, { email })
  const token = await tokenFor(world, email, 'password-resets')
  await world.advance(HOUR_MS + 1_000)
  const expired = await open(`${world.url}/password-resets/${token}`)
  const unknown = await open(`${world.url}/password-resets/${'x'.repeat(43)}`)
  t.strictSame([expired.status, expired.html], [404, unknown.html])
  t.notMatch(expired.text, email)
})
