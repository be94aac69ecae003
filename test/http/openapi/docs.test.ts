/**
 * The interactive reference, as a browser sees it. Needs a Chromium on the PATH (or CHROMIUM naming one); where there
 * is none the part in the browser says so and is left out.
 */
import { chromium, type Browser, type Page } from 'playwright-core'
import t from 'tap'
import { routes } from '../../../http/server/routes.ts'
import { findChromium, NO_CHROMIUM } from '../../support/chromium.ts'
import { createWorld } from '../../support/world.ts'
import { fakeWorld, request, startFake } from '../server/fake-world.ts'

/** A busy machine takes many times as long for the page as a quiet one. */
const PATIENCE_MS = 200_000

/** Every operation that the page shows in its groups, which are opened and closed again one by one. */
async function operationsShown(page: Page): Promise<string[]> {
  const shown: string[] = []
  for (const group of await page.locator('.opblock-tag-section').all()) {
    await group.locator('.opblock-tag').click()
    await group.locator('.opblock').first().waitFor()
    // The document's callbacks to receivers are blocks too, without a path.
    const rows = await group
      .locator('.opblock:has(.opblock-summary-path[data-path^="/"])')
      .evaluateAll((blocks) =>
        blocks.map(
          (block) =>
            `${block.querySelector('.opblock-summary-method')?.textContent?.toLowerCase()} ${block.querySelector('.opblock-summary-path')?.getAttribute('data-path')}`,
        ),
      )
    shown.push(...rows)
    await group.locator('.opblock-tag').click()
    await group.locator('.opblock').first().waitFor({ state: 'detached' })
  }
  return shown.toSorted()
}

t.test(
  'the page and its files come from this service, compressed where that is welcome, and may be kept',
  async (t) => {
    const service = await startFake(fakeWorld())
    t.teardown(service.stop)
    const page = await request(`${service.origin}/docs`)
    t.equal(page.status, 200)
    t.match(page.headers.get('content-type'), /^text\/html/)
    t.match(page.headers.get('content-security-policy'), /default-src 'none'; script-src 'self';/)
    const html = await page.text()
    t.notMatch(html, /(?:src|href)="(?!\/docs\/)/, 'nothing comes from elsewhere')
    t.notMatch(html, /<script>|\son\w+=/, 'no script stands in the page')
    for (const [, path] of html.matchAll(/(?:src|href)="([^"]+)"/g)) {
      const plain = await request(service.origin + path, { headers: { 'accept-encoding': 'identity' } })
      t.equal(plain.status, 200)
      t.equal(plain.headers.get('x-content-type-options'), 'nosniff')
      t.notOk(plain.headers.has('content-encoding'))
      const bytes = (await plain.arrayBuffer()).byteLength
      t.equal(
        (
          await request(service.origin + path, {
            headers: { 'if-none-match': plain.headers.get('etag') as string, 'accept-encoding': 'identity' },
          })
        ).status,
        304,
      )
      const zipped = await request(service.origin + path, { headers: { 'accept-encoding': 'gzip' } })
      t.equal(zipped.headers.get('content-encoding'), 'gzip')
      t.not(zipped.headers.get('etag'), plain.headers.get('etag'))
      t.equal((await zipped.arrayBuffer()).byteLength, bytes, 'it unpacks to the same')
    }
    for (const path of [
      '/docs/',
      '/docs/start.js',
      '/docs/getting-started',
      '/docs/sandbox',
      '/docs/providers',
      '/docs/changelog',
    ])
      t.equal((await request(service.origin + path)).status, 200, path)
    for (const path of [
      '/docs/index.html',
      '/docs/../package.json',
      '/docs/%2e%2e/package.json',
      '/docs/swagger-ui.js',
      '/docsx',
      '/v1/docs',
    ]) {
      t.equal((await request(service.origin + path)).status, 404, path)
    }
    t.equal((await request(`${service.origin}/docs`, { method: 'POST' })).status, 404)
  },
)

t.test('a browser shows every operation, opens one and sends it, without a word in its console', async (t) => {
  const path = await findChromium()
  if (path === null) {
    t.comment(NO_CHROMIUM)
    return
  }
  await using world = await createWorld()
  // A world of several nodes gives another one each time it is asked; a browser stays where it is.
  const { url } = world
  const browser: Browser = await chromium.launch({
    executablePath: path,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 1600 } })
    page.setDefaultTimeout(PATIENCE_MS)
    const words: string[] = []
    const elsewhere: string[] = []
    page.on('console', (message) => words.push(`${message.type()}: ${message.text()}`))
    page.on('pageerror', (error) => words.push(`error: ${error.message}`))
    page.on('requestfailed', (failed) => words.push(`failed: ${failed.url()}`))
    page.on('request', (sent) => {
      if (!/^(?:data|blob):/.test(sent.url()) && !sent.url().startsWith(url)) elsewhere.push(sent.url())
    })
    await page.goto(`${url}/docs`)
    await page.waitForSelector('.opblock-tag')
    t.strictSame(
      await operationsShown(page),
      routes.map(({ method, path }) => `${method} ${path}`).toSorted(),
      'every operation',
    )
    t.match(await page.locator('.info .title').innerText(), /Banking Platform API/)
    const { SCREENSHOT } = process.env
    if (SCREENSHOT !== undefined) await page.screenshot({ path: SCREENSHOT })

    await page.goto('about:blank')
    await page.goto(`${url}/docs#/public-api/getHealth`, { waitUntil: 'networkidle' })
    await page.locator('#operations-public-api-getHealth .try-out__btn').click()
    await page.locator('#operations-public-api-getHealth .execute').click()
    const answer = page.locator('#operations-public-api-getHealth .live-responses-table tbody .response-col_status')
    await answer.waitFor()
    t.match(await answer.innerText(), /200/, 'it can be tried out')
    await page.goto('about:blank')
    await page.goto(`${url}/docs#/payments/createPayment`, { waitUntil: 'networkidle' })
    await page.locator('#operations-payments-createPayment .opblock-body').waitFor()
    t.match(await page.locator('#operations-payments-createPayment .opblock-body').innerText(), /Idempotency-Key/)
    if (SCREENSHOT !== undefined) await page.screenshot({ path: SCREENSHOT.replace('.png', '-open.png') })
    t.strictSame(words, [], 'the console is silent')
    t.strictSame(elsewhere, [], 'and nobody else is asked for anything')
  } finally {
    await browser.close()
  }
})
