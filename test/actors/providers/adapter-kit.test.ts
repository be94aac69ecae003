/** The kit passes for the model, and each of its cases fails for the flaw that it is there to find. */
import t from 'tap'
import { KIT, runKit } from './adapter-kit.ts'
import { FLAWS, modelHarness, type Flaw } from './model-adapter.ts'

/** The first words of the case that finds each flaw. */
const FOUND_BY: Readonly<Record<Flaw, string>> = {
  sends_twice: 'the same reference twice',
  answer_lost_is_accepted: 'a timeout of an order that arrived',
  request_lost_is_pending: 'a timeout of an order that never arrived',
  counts_pages_once: 'pages with new rows in between',
  forgets_older_events: 'events out of order',
  ids_by_the_way: 'an event that comes twice',
  knows_every_code: 'an unknown code',
  empty_body_is_settled: 'an empty body',
  too_many_is_refused: 'a provider that takes no more',
  hurries: 'a provider that takes no more',
  believes_every_signature: 'a webhook is believed',
  believes_old_signatures: 'a webhook is believed',
  small_bodies_only: 'a body of 5 MB',
  exact_clock: 'two minutes between the clocks',
  tells_the_token: 'no secret stands',
}

t.test('the model keeps the contract', (t) => runKit(t, async () => modelHarness()))

t.test('each case finds its flaw', async (t) => {
  for (const flaw of FLAWS) {
    const found = KIT.find(({ name }) => name.startsWith(FOUND_BY[flaw]))
    if (found === undefined) throw new Error(`No case finds ${flaw}.`)
    const harness = modelHarness(flaw)
    t.ok(found.needs(harness), flaw)
    await t.rejects(found.run(harness), `${flaw}: ${found.name}`)
  }
  for (const { name } of KIT)
    t.ok(
      Object.values(FOUND_BY).some((words) => name.startsWith(words)),
      `A flaw proves the case: ${name}`,
    )
})
