/** The overview of integrations: its links lead to pages of this service. */
import t from 'tap'
import type { IntegrationHome } from '../../../lib/integration/api-usage-schema.ts'
import { createWorld } from '../../support/world.ts'

t.test('every link of the overview is answered by the service itself', async (t) => {
  await using world = await createWorld()
  const { links } = (await world.operator.get<IntegrationHome>('/integration')).body
  t.strictSame(Object.keys(links).sort(), ['changelog', 'gettingStarted', 'openapi', 'portal', 'reference', 'sandbox'])
  for (const [name, link] of Object.entries(links)) {
    t.equal(new URL(link).origin, world.url, name)
    const answer = await fetch(link)
    t.equal(answer.status, 200, `${name}: ${link}`)
    const text = await answer.text()
    if (name === 'openapi') continue
    t.match(answer.headers.get('content-type'), /^text\/html/, name)
    t.notMatch(text, /(?:src|href)="(?!\/docs)/, 'nothing comes from elsewhere')
  }
  const page = async (link: string) => await (await fetch(link)).text()
  t.match(await page(links.gettingStarted), /Idempotency-Key/)
  t.match(await page(links.sandbox), /amountMinor 1301 or SBX:AC01/)
  t.match(await page(links.changelog), /1\.0\.0-draft\.14/)
})
