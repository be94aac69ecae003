/** The filters of the operator's queue of recipient reviews. */
import t from 'tap'
import type { RecipientReview } from '../../../lib/recipients/recipient-review-schema.ts'
import { createWorld } from '../../support/world.ts'
import { createByKey, decideAs, newIban, patchAs, setMode } from './support.ts'

const HOUR_MS = 3_600_000

t.test('the queue is filtered by kind, assignee and age', async (t) => {
  await using world = await createWorld()
  await setMode(world, 'operator_queue')
  const staff = await world.person('compliance').signIn()
  const find = async (query: string) =>
    (await staff.get<{ data: RecipientReview[] }>(`/recipient-reviews?${query}`)).body.data
  const named = async (query: string) => (await find(query)).map(({ recipient }) => recipient.id)
  const { client } = world.seeded
  const first = (await createByKey(client)).body
  const [review] = await find('')
  t.match(review, { kind: 'new_recipient', assignee: null })
  const approved = (await staff.post<RecipientReview>(`/recipient-reviews/${review!.id}/approve`)).body
  t.equal(approved.assignee, approved.decidedBy, 'the person who decided')
  const owner = await world.person('owner').signIn()
  await patchAs(owner, first.id, { bank: { iban: newIban() } })
  world.advance(2 * HOUR_MS)
  // The time that has passed ends the sessions of people.
  await staff.signIn()
  const second = (await createByKey(client)).body

  t.strictSame(await named('filter[kind]=new_recipient'), [second.id])
  t.strictSame(await named('filter[kind]=changed_recipient'), [first.id])
  t.strictSame(await named('filter[kind]=new_recipient,changed_recipient'), [first.id, second.id])
  t.strictSame(await named('filter[olderThanHours]=1'), [first.id])
  t.strictSame(await named('filter[olderThanHours]=3'), [])
  const decided = 'filter[status]=approved,rejected'
  t.strictSame(await named(`${decided}&filter[assignee]=${approved.assignee}`), [first.id])
  t.strictSame(await named(`${decided}&filter[assignee]=${first.id}`), [])
  t.strictSame(await named(`filter[assignee]=${approved.assignee}`), [], 'nobody has acted on what is pending')
  for (const query of ['filter[kind]=new', 'filter[olderThanHours]=-1', 'filter[assignee]=me'])
    t.equal((await staff.get(`/recipient-reviews?${query}`)).status, 400, query)

  await setMode(world, 'customer_then_operator')
  const third = (await createByKey(client)).body
  await decideAs(t, await world.person('approver').signIn(), third.approval!.approvalId!, 'approved')
  t.match(
    (await find('')).find(({ recipient }) => recipient.id === third.id),
    { kind: 'new_recipient' },
    'also when members of the customer decided first',
  )
})
