/**
 * The pages for people in a real browser: both themes and two widths, by the rules of axe, by keyboard alone, and with
 * the script that copies and reveals. Needs a Chromium on the PATH (or CHROMIUM naming one); where there is none the
 * test says so and is left out. With PICTURES=<folder> in the environment each page is kept there as a picture.
 */
import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'
import t from 'tap'
import { findChromium, NO_CHROMIUM } from '../../support/chromium.ts'
import { createWorld, type World } from '../../support/world.ts'
import { arrive, ask, read, requestBody } from '../funds-requests/support.ts'
import type { FundsRequest } from '../../../lib/funds-requests/funds-request-schema.ts'
import { askForReset, inviteMember, inviteStaff } from '../identity/links.ts'
import { until } from '../../support/until.ts'

/** A busy machine takes many times as long for a page as a quiet one. */
const PATIENCE_MS = 60_000
const PASSWORD = 'seven calm herons wade'

const THEMES = ['light', 'dark'] as const
const SIZES = [
  { width: 360, height: 740 },
  { width: 1280, height: 900 },
] as const
const LANGUAGES = ['en', 'de', 'fr', 'es'] as const

const LOGO = Buffer.from(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 180 32"><path d="M4 26h24M7 14v9M16 14v9M25 14v9M4 13l12-7 12 7z" fill="none" stroke="#0b6b53" stroke-width="2.5" stroke-linejoin="round"/><text x="38" y="23" font-family="sans-serif" font-weight="700" font-size="20" fill="#0b3b31">Norden Bank</text></svg>`,
).toString('base64')

const axeSource = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Returns what axe has against the page, one line each. */
async function complaintsOf(page: Page): Promise<string[]> {
  await page.evaluate(axeSource)
  const found = (await page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
  )) as { violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[] }
  return found.violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}

interface Sight {
  readonly name: string
  readonly path: string | (() => Promise<string>)
  /** What is done on the page before it is looked at. */
  readonly act?: (page: Page) => Promise<unknown>
}

const send = (page: Page) => page.locator('form button[type=submit]').click()

/** One page of each kind, in each state that people meet. */
async function sightsOf(world: World): Promise<Sight[]> {
  const owner = await world.person('owner').signIn()
  const asked = await ask(world, 1_234_567, {
    description: 'Consulting in April',
    invoiceNumber: 'INV-2026-0042',
    dueDate: new Date(world.now() + 14 * 86_400_000).toISOString().slice(0, 10),
    allowPartial: true,
  })
  const partly = await ask(world, 50_000)
  await arrive(world, { amount: 12_345n, reference: partly.reference })
  await until('a part is paid', async () => (await read(world.seeded.client, partly.id)).status === 'partially_paid')
  const pounds = await world.seeded.client.post<FundsRequest>('/funds-requests', {
    ...requestBody(world.seeded.balances.GBP),
    amount: { amountMinor: '987650', currency: 'GBP' },
  })
  const paid = await ask(world, 4_200)
  await arrive(world, { amount: 4_200n, reference: paid.reference })
  await until('all is paid', async () => (await read(world.seeded.client, paid.id)).status === 'paid')
  const path = ({ link }: FundsRequest) => new URL(link!).pathname
  const fill = async (page: Page, password: string) => await page.fill('#password', password)
  return [
    { name: 'payer-open', path: path(asked) },
    { name: 'payer-decline', path: path(asked), act: (page) => page.click('summary') },
    { name: 'payer-partly', path: path(partly) },
    { name: 'payer-pounds', path: path(pounds.body) },
    { name: 'payer-paid', path: path(paid) },
    {
      name: 'invitation-member',
      path: `/invitations/${await inviteMember(world, owner, { email: 'ann@example.com', role: 'approver' })}`,
    },
    {
      name: 'invitation-fault',
      path: `/invitations/${await inviteMember(world, owner, { email: 'bea@example.com', role: 'viewer' })}`,
      act: async (page) => {
        await page.fill('#name', 'Bea "B" <Berg>')
        await fill(page, 'short')
        await send(page)
      },
    },
    {
      name: 'invitation-known',
      path: `/invitations/${(await inviteStaff(world, { email: owner.login.email, role: 'support' })).token}`,
    },
    {
      name: 'invitation-first-administrator',
      path: `/invitations/${(await inviteStaff(world, { email: 'first@bank.example', role: 'operator_admin', name: 'Ann Admin', byName: 'System' })).token}`,
    },
    {
      name: 'invitation-done',
      // A link works once, so each look has its own.
      path: async () =>
        `/invitations/${(await inviteStaff(world, { email: `${randomUUID()}@bank.example`, role: 'treasury' })).token}`,
      act: async (page) => {
        await page.fill('#name', 'Cid Clark')
        await fill(page, PASSWORD)
        await send(page)
        await page.getByRole('heading', { name: 'Your invitation is accepted' }).waitFor()
      },
    },
    { name: 'password-forgotten', path: '/password-resets' },
    { name: 'password-new', path: `/password-resets/${await askForReset(world, 'approver@example.com')}` },
    { name: 'link-unknown', path: `/password-resets/${'x'.repeat(43)}` },
  ]
}

/** Opens a page of the browser that notes what should not happen. */
async function openPage(browser: Browser, world: World, options: BrowserContextOptions) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const wrong: string[] = []
  page.on('console', (message) => {
    // A browser reports each answer that is no success; a refused form and an unknown link are none.
    if (!/the server responded with a status of (?:404|409|422)/.test(message.text())) wrong.push(message.text())
  })
  page.on('pageerror', (error) => wrong.push(error.message))
  page.on('request', (sent) => {
    if (!/^(?:data|blob):/.test(sent.url()) && !sent.url().startsWith(world.url)) wrong.push(`asked for ${sent.url()}`)
  })
  return { page, wrong, close: () => context.close() }
}

const { PICTURES } = process.env

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES !== undefined) await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
}

const isWhole = (page: Page) => page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')

const launch = () =>
  chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox', '--disable-dev-shm-usage'] })

const executablePath = await findChromium()
const options = { skip: executablePath === null ? NO_CHROMIUM : false }

t.test('every page is readable and usable in both themes, on a phone and on a desk', options, async (t) => {
  await using world = await createWorld()
  const sights = await sightsOf(world)
  const admin = await world.person('operator_admin').signIn()
  const branded = await admin.send(
    'PATCH',
    '/operator/branding',
    {
      displayName: 'Norden Bank',
      primaryColor: '#0b6b53',
      linkColor: '#0a6a74',
      logo: { contentType: 'image/svg+xml', data: LOGO },
      supportEmail: 'help@norden.example',
      supportPhone: '+4532345678',
      footer: 'Norden Bank A/S, Copenhagen, registered under 12345678',
    },
    { 'if-match': '*' },
  )
  t.equal(branded.status, 200, branded.text)
  const browser = await launch()
  try {
    for (const colorScheme of THEMES) {
      for (const viewport of SIZES) {
        const { page, wrong, close } = await openPage(browser, world, { colorScheme, viewport, locale: 'en-GB' })
        for (const { name, path, act } of sights) {
          await page.goto(world.url + (typeof path === 'string' ? path : await path()))
          await act?.(page)
          const what = `${name}, ${colorScheme}, ${viewport.width}`
          t.strictSame(await complaintsOf(page), [], what)
          t.ok(await isWhole(page), `${what}: nothing is cut off`)
          await picture(page, `${name}-${colorScheme}-${viewport.width}`)
        }
        t.strictSame(wrong, [], `${colorScheme}, ${viewport.width}: the console is silent, and nobody else is asked`)
        await close()
      }
    }
  } finally {
    await browser.close()
  }
})

t.test('a payer copies the account, and declines by keyboard alone', options, async (t) => {
  await using world = await createWorld()
  const request = await ask(world)
  const browser = await launch()
  try {
    const { page, wrong, close } = await openPage(browser, world, { locale: 'de', colorScheme: 'dark' })
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: world.url })
    await page.goto(world.url + new URL(request.link!).pathname)
    const iban = page.getByRole('button', { name: 'Kopieren: IBAN' })
    await iban.click()
    t.equal(await page.evaluate('navigator.clipboard.readText()'), request.depositDetails[0]!.iban)
    await page.getByRole('status').filter({ hasText: 'Kopiert: IBAN' }).waitFor({ state: 'attached' })
    await page.getByRole('button', { name: 'Kopieren: Verwendungszweck' }).click()
    t.equal(await page.evaluate('navigator.clipboard.readText()'), request.reference)

    await page.getByText('Zahlung ablehnen').focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Ablehnen')
    t.ok(await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle !== 'none'`), 'the focus is seen')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sie haben abgelehnt' }).waitFor()
    t.equal(page.url(), world.url + new URL(request.link!).pathname)
    t.strictSame(wrong, [])
    await close()
  } finally {
    await browser.close()
  }
  t.equal((await read(world.seeded.client, request.id)).status, 'declined')
})

t.test('an invitation is accepted by keyboard alone, with and without scripts', options, async (t) => {
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const browser = await launch()
  try {
    for (const javaScriptEnabled of [true, false]) {
      const email = `ann-${javaScriptEnabled ? 'with' : 'without'}@example.com`
      const token = await inviteMember(world, owner, { email, role: 'viewer' })
      const { page, wrong, close } = await openPage(browser, world, { locale: 'en-GB', javaScriptEnabled })
      await page.goto(`${world.url}/invitations/${token}`)
      const reveal = page.locator('button.reveal')
      t.equal(await reveal.isVisible(), javaScriptEnabled, 'a button that needs a script is there with scripts alone')
      await page.locator('#email').focus()
      await page.keyboard.press('Tab')
      await page.keyboard.type('Ann Ames')
      await page.keyboard.press('Tab')
      await page.keyboard.type('short')
      await page.keyboard.press('Enter')
      await page.getByRole('alert').waitFor()
      t.match(await page.title(), /^Error: /)
      t.equal(await page.locator('#name').inputValue(), 'Ann Ames')
      t.equal(await page.locator('#password').inputValue(), '')
      t.equal(await page.evaluate('document.activeElement.id'), 'password', 'the faulty field has the focus')
      await page.keyboard.type(PASSWORD)
      if (javaScriptEnabled) {
        await page.keyboard.press('Tab')
        await page.keyboard.press('Space')
        t.equal(await page.locator('#password').getAttribute('type'), 'text')
        t.equal(await reveal.innerText(), 'Hide')
        await page.keyboard.press('Tab')
      }
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Your invitation is accepted' }).waitFor()
      t.strictSame(wrong, [])
      await close()
    }
  } finally {
    await browser.close()
  }
})

t.test('no language breaks the page of a phone', options, async (t) => {
  await using world = await createWorld()
  const request = await ask(world, 123_456_789_012n)
  const owner = await world.person('owner').signIn()
  const token = await inviteMember(world, owner, { email: 'ann@example.com', role: 'accountant' })
  const browser = await launch()
  try {
    for (const locale of LANGUAGES) {
      const { page, wrong, close } = await openPage(browser, world, { locale, viewport: SIZES[0] })
      for (const path of [new URL(request.link!).pathname, `/invitations/${token}`, '/password-resets']) {
        await page.goto(world.url + path)
        await picture(page, `language-${path.split('/')[1]}-${locale}`)
        t.strictSame(await complaintsOf(page), [], `${path}, ${locale}`)
        t.ok(await isWhole(page), `${path}, ${locale}: nothing is cut off`)
      }
      t.strictSame(wrong, [])
      await close()
    }
  } finally {
    await browser.close()
  }
})
