/** What all pages have in common: their headers, their forms, and what they keep to themselves. */
import { hash } from 'node:crypto'
import t, { type Test } from 'tap'
import type { AppOptions } from '../../../http/server/app.ts'
import { pages } from '../../../http/server/routes.ts'
import { RateLimits } from '../../../http/access/rate-limits.ts'
import { LANGUAGES } from '../../../http/pages/language.ts'
import { TRANSLATIONS } from '../../../http/pages/translations.ts'
import { brandOf } from '../../../lib/branding/brand.ts'
import { OperatingError } from '../../../lib/base/errors.ts'
import { refuse } from '../../../lib/base/problems.ts'
import type { OpenInvitation } from '../../../lib/identity/member-schema.ts'
import { fakeWorld, startFake, type FakeWorld } from '../server/fake-world.ts'
import { open, submit, valueOf, type Seen } from './visit.ts'

const TOKEN = `inv_${'T'.repeat(43)}`
const INVITED: OpenInvitation = {
  customerName: '<b>Acme</b>',
  operatorName: 'Bank',
  email: 'ann@example.com',
  name: null,
  role: 'owner',
  invitedByName: 'Bea',
  expiresAt: '2026-02-01T00:00:00.000Z',
  knownPerson: false,
}
const FORM = { name: 'Ann', password: 'seven calm herons wade' }

interface Fake {
  readonly world: FakeWorld
  readonly url: string
  /** The forms that were carried out. */
  readonly accepted: unknown[]
  /** Thrown by the next reads and forms. */
  failure: Error | null
}

/** Starts the pages over one open invitation. */
async function startPages(t: Test, app: AppOptions = {}): Promise<Fake> {
  const world = fakeWorld()
  const accepted: unknown[] = []
  const brand = brandOf('Bank', null)
  Object.assign(world, {
    branding: { brand: async () => brand, onlyBrand: async () => null },
    members: {
      async openInvitation(token: string) {
        if (fake.failure !== null) throw fake.failure
        return token === TOKEN ? { view: INVITED, tenantId: 'operator' } : null
      },
      async acceptInvitation(token: string, body: unknown) {
        if (token !== TOKEN) refuse('not-found', 'No link.')
        accepted.push(body)
      },
    },
    identity: { onKeyChange: () => undefined, openPasswordReset: async () => null },
    fundsRequests: { ofLink: async () => null },
  })
  const service = await startFake(world, { app: { ...app, pages } })
  t.teardown(service.stop)
  const fake: Fake = { world, url: service.origin, accepted, failure: null }
  return fake
}

/** What no page may have: code of its own, anything from elsewhere, and a policy that lets either in. */
function checkSecurity(t: Test, { headers, html }: Seen): void {
  t.equal(headers.get('cache-control'), 'no-store')
  t.equal(headers.get('referrer-policy'), 'no-referrer')
  t.equal(headers.get('x-content-type-options'), 'nosniff')
  t.equal(headers.get('x-frame-options'), 'DENY')
  t.equal(headers.get('x-robots-tag'), 'noindex, nofollow')
  t.equal(headers.get('content-type'), 'text/html; charset=utf-8')
  t.match(headers.get('vary'), /Accept-Language/)
  const [, style = ''] = /<style>([^<]*)<\/style>/.exec(html) ?? []
  t.equal(
    headers.get('content-security-policy'),
    `default-src 'none'; style-src 'self' 'sha256-${hash('sha256', style, 'base64')}'; script-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  )
  t.notMatch(html, /<script(?![^>]*src="\/pages\/)|\sstyle=|\son\w+=/)
  t.strictSame(html.match(/(?:href|src|action)="(?!\/|#)[^"]*/g), null)
  t.equal(html.match(/<style/g)?.length, 1)
}

t.test('no page has code of its own, is kept, framed or found, or tells its address', async (t) => {
  const { url } = await startPages(t)
  const seen = [
    await open(`${url}/invitations/${TOKEN}`),
    await open(`${url}/invitations/${TOKEN.slice(1)}`),
    await open(`${url}/password-resets`),
    await submit(`${url}/invitations/${TOKEN}`, { name: '', password: 'short' }),
    await submit(`${url}/invitations/${TOKEN}`, FORM),
  ]
  t.strictSame(
    seen.map(({ status }) => status),
    [200, 404, 200, 422, 200],
  )
  for (const each of seen) checkSecurity(t, each)
  t.match(seen[0]!.html, '&lt;b&gt;Acme&lt;/b&gt;')
  const secured = await startPages(t, { security: { publicUrl: 'https://bank.example', consoleOrigins: [] } })
  t.match((await open(`${secured.url}/password-resets`)).headers.get('strict-transport-security'), /max-age=/)
})

t.test('each language has each page', async (t) => {
  const { url } = await startPages(t)
  for (const language of LANGUAGES) {
    const headers = { 'accept-language': language }
    const page = await open(`${url}/invitations/${TOKEN}`, headers)
    t.match(page.html, `<html lang="${language}">`)
    t.equal(page.headers.get('content-language'), language)
    t.ok(page.text.includes(TRANSLATIONS[language].invitation.submit), language)
    const refused = await submit(`${url}/invitations/${TOKEN}`, {}, headers)
    t.ok(refused.text.includes(TRANSLATIONS[language].forms.faults.required), language)
    t.ok((await open(`${url}/pay/${TOKEN}`, headers)).text.includes(TRANSLATIONS[language].failures.unknownLink.text))
  }
})

t.test('a form is accepted from its page, and from nowhere else', async (t) => {
  const { url, accepted } = await startPages(t)
  const address = `${url}/invitations/${TOKEN}`
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site', origin: url },
    { origin: 'https://elsewhere.example' },
    { origin: url.replace('http:', 'https:').replace(/\d+$/, '1') },
    { origin: 'nonsense' },
  ]) {
    const refused = await submit(address, FORM, headers as unknown as Record<string, string>)
    t.equal(refused.status, 403, JSON.stringify(headers))
    t.match(refused.text, TRANSLATIONS.en.failures.refusedForm.title)
  }
  t.strictSame(accepted, [])
  const own = [{ 'sec-fetch-site': 'same-origin', origin: 'null' }, { 'sec-fetch-site': 'none' }, { origin: url }, {}]
  for (const headers of [...own, { origin: 'null' }] as Record<string, string>[])
    t.equal((await submit(address, FORM, headers)).status, 200, JSON.stringify(headers))
  t.strictSame(
    accepted,
    Array.from({ length: 5 }, () => FORM),
  )
})

t.test('broken forms show a page and change nothing', async (t) => {
  const { url, accepted } = await startPages(t)
  const address = `${url}/invitations/${TOKEN}`
  const json = { 'content-type': 'application/json' }
  const rows: readonly (readonly [status: number, body: string, headers?: Record<string, string>])[] = [
    [415, JSON.stringify(FORM), json],
    [415, 'name=Ann', { 'content-encoding': 'gzip' }],
    [413, `name=${'x'.repeat(20_000)}`],
    [400, 'name=Ann&name=Bea&password=seven+calm+herons+wade'],
    [400, 'name=%ff&password=seven+calm+herons+wade'],
    [422, ''],
    [422, '%%%&=&&name'],
  ]
  for (const [status, body, headers = {}] of rows) {
    const refused = await submit(address, body, headers)
    t.equal(refused.status, status, body.slice(0, 60))
    t.match(refused.headers.get('content-type'), /^text\/html/)
  }
  t.strictSame(accepted, [])
  const spaced = await submit(address, { name: '  ', password: 'short' })
  t.match(spaced.text, /Your name: Please fill in this field/)
  t.equal(valueOf(await submit(address, { ...FORM, name: '\u0000x', password: 'x' }), 'name') === null, false)
})

t.test('addresses and methods that no page has', async (t) => {
  const { url } = await startPages(t)
  const head = await fetch(`${url}/invitations/${TOKEN}`, { method: 'HEAD' })
  t.strictSame([head.status, await head.text()], [200, ''])
  const put = await fetch(`${url}/invitations/${TOKEN}`, { method: 'PUT', body: 'x' })
  t.strictSame([put.status, put.headers.get('allow')], [405, 'GET, HEAD, POST'])
  await put.text()
  const posted = await submit(`${url}/pay/${TOKEN}`)
  t.strictSame([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD'])
  for (const path of ['/invitations', `/invitations/${TOKEN}/accept`, '/pay', '/pay/a/b/c', '/pages/'])
    t.match((await open(url + path)).headers.get('content-type'), 'application/problem+json', path)
})

t.test('the files of pages are kept until they change, and nothing beside them is served', async (t) => {
  const { url } = await startPages(t)
  const { html } = await open(`${url}/password-resets`)
  const paths = Array.from(html.matchAll(/(?:href|src)="(\/pages\/[^"]+)"/g), ([, path]) => path as string)
  t.equal(paths.length, 3)
  for (const path of paths) {
    const file = await open(url + path, { 'accept-encoding': 'identity' })
    t.equal(file.status, 200, path)
    t.equal(file.headers.get('cache-control'), 'public, max-age=3600')
    const again = await open(url + path, {
      'accept-encoding': 'identity',
      'if-none-match': file.headers.get('etag')!,
    })
    t.equal(again.status, 304)
  }
  for (const path of ['/pages/pages.ts', '/pages/../package.json', '/pages/%2e%2e/package.json', '/pages/en.ts'])
    t.equal((await open(url + path)).status, 404, path)
})

t.test('a failure shows a page without its text, and the log has no token', async (t) => {
  const fake = await startPages(t)
  const { url, world } = fake
  fake.failure = new Error('secret of the database')
  const failed = await open(`${url}/invitations/${TOKEN}`)
  t.equal(failed.status, 500)
  t.match(failed.text, TRANSLATIONS.en.failures.unavailable.title)
  t.notMatch(failed.html, 'secret')
  checkSecurity(t, failed)
  fake.failure = new (class Away extends OperatingError {})('the database is away')
  const away = await submit(`${url}/invitations/${TOKEN}`, FORM)
  t.equal(away.status, 503)
  t.ok(away.headers.has('retry-after'))
  const logged = world.logged.map(({ level, fields }) => [level, (fields as { path?: string }).path])
  t.strictSame(logged, [
    ['error', '/invitations/***'],
    ['warn', '/invitations/***'],
  ])
  t.notOk(JSON.stringify(world.logged).includes(TOKEN))
})

t.test('who tries links without end waits, as with the operations of the API', async (t) => {
  const world = fakeWorld()
  using rateLimits = new RateLimits({ clock: world.clock })
  const { url } = await startPages(t, { rateLimits })
  const guess = (nth: number) => open(`${url}/invitations/inv_${String(nth).padStart(43, '0')}`)
  const pages = await Promise.all(Array.from({ length: 120 }, (_, nth) => guess(nth)))
  t.strictSame([...new Set(pages.map(({ status }) => status))].toSorted(), [404, 429])
  const refused = await open(`${url}/invitations/${TOKEN}`)
  t.equal(refused.status, 429)
  t.ok(refused.headers.has('retry-after'))
  t.match(refused.text, TRANSLATIONS.en.failures.tooManyRequests.title)
  t.equal((await open(`${url}/v1/invitations/${TOKEN}`)).status, 429)
})

t.test('where there is one console, pages lead to it', async (t) => {
  const accept = async (consoleOrigins: readonly string[]) => {
    const { url } = await startPages(t, { security: { publicUrl: null, consoleOrigins } })
    return (await submit(`${url}/invitations/${TOKEN}`, FORM)).html
  }
  const link = /<a class="button" href="https:\/\/one\.example">/
  t.match(await accept(['https://one.example']), link)
  t.notMatch(await accept(['https://one.example', 'https://two.example']), link)
  t.notMatch(await accept([]), /class="button"/)
})
