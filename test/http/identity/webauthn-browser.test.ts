/**
 * WebAuthn in a real browser, whose virtual authenticator is driven over the DevTools protocol. Needs a Chromium on the
 * PATH (or CHROMIUM naming one); where there is none the test says so and is left out.
 */
import { chromium, type CDPSession, type Page } from 'playwright-core'
import t from 'tap'
import type { MfaFactor, NewMfaFactor } from '../../../lib/identity/user-schema.ts'
import { findChromium, NO_CHROMIUM } from '../../support/chromium.ts'
import { createWorld } from '../../support/world.ts'
import { addAuthenticator, answerStepUp, challengeFor, finishSignIn, originOf, type HalfOpened } from './factors.ts'

/** A busy machine takes many times as long for a page as a quiet one. */
const PATIENCE_MS = 60_000

/** Plugs in a security key that verifies its holder. */
async function plugIn(page: Page): Promise<CDPSession> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'usb',
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return devtools
}

/** Runs a ceremony in the page: the options as the service sent them, and the answer as the service takes it. */
const inBrowser = (page: Page, ceremony: 'create' | 'get', publicKey: object): Promise<object> =>
  page.evaluate(
    `(async () => {
      const options = ${JSON.stringify(publicKey)}
      const made = '${ceremony}' === 'create'
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })
      return made.toJSON()
    })()`,
  )

t.test('a browser registers its key, signs in with it and gives a proof', async (t) => {
  const executablePath = await findChromium()
  if (executablePath === null) {
    t.comment(NO_CHROMIUM)
    return
  }
  await using world = await createWorld()
  const owner = await world.person('owner').signIn()
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
  try {
    const page = await browser.newPage()
    page.setDefaultTimeout(PATIENCE_MS)
    await plugIn(page)
    await page.goto(`${originOf(world)}/docs/getting-started`)
    await owner.stepUp('settings.change')
    const verify = (factor: NewMfaFactor, attestation: object) =>
      owner.post<MfaFactor>(`/users/me/mfa-factors/${factor.id}/verify`, { attestation })
    const factor = await addAuthenticator(owner, 'Key of the browser')
    const confirmed = await verify(factor, await inBrowser(page, 'create', factor.publicKey!))
    t.equal(confirmed.status, 200, confirmed.text)
    t.match(confirmed.body, { name: 'Key of the browser', status: 'active' })
    const again = await addAuthenticator(owner)
    await t.rejects(
      inBrowser(page, 'create', again.publicKey!),
      /InvalidStateError/,
      'the key knows the service already',
    )

    const half = (await owner.password()).body as HalfOpened
    const assertion = await inBrowser(page, 'get', half.mfa.publicKey)
    const opened = await finishSignIn(owner, half, { method: 'webauthn', assertion })
    t.match(opened.body, { status: 'active' }, opened.text)
    owner.token = opened.body.token
    const challenge = await challengeFor(owner, { action: 'payment.above_threshold' })
    const proof = { method: 'webauthn', assertion: await inBrowser(page, 'get', challenge.publicKey!) }
    t.equal((await answerStepUp(owner, challenge.challengeId, proof)).status, 200)
    t.match(await world.query('select sign_count from mfa_factor where id = $1', [factor.id]), [{ sign_count: '3' }])
  } finally {
    await browser.close()
  }
})
