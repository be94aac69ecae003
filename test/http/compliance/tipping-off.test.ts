/** Texts of staff that customers read: one that tells too much is refused, and changes nothing. */
import t from 'tap'
import type { Recipient } from '../../../lib/recipients/recipient-schema.ts'
import type { RecipientReview } from '../../../lib/recipients/recipient-review-schema.ts'
import { createWorld } from '../../support/world.ts'
import { createByKey, setMode } from '../recipients/support.ts'

const TELLING = 'Held because of money laundering.'

t.test('the decision on a recipient is told in words that tell nothing', async (t) => {
  await using world = await createWorld()
  await setMode(world, 'operator_queue')
  const staff = await world.person('compliance').signIn()
  const { client } = world.seeded
  const { id } = (await createByKey(client)).body
  const [review] = (await staff.get<{ data: RecipientReview[] }>('/recipient-reviews')).body.data
  const path = `/recipient-reviews/${review!.id}`
  for (const decision of ['approve', 'reject'])
    t.match((await staff.post(`${path}/${decision}`, { reason: TELLING })).problem, {
      status: 422,
      code: 'tipping_off',
      field: '/reason',
      retryable: false,
    })
  t.match((await staff.get<RecipientReview>(path)).body, { status: 'pending', reason: null, decidedBy: null })
  t.equal((await client.get<Recipient>(`/recipients/${id}`)).body.status, review!.recipient.status)
  t.strictSame(await world.query(`select from notification where type = 'recipient_decided'`), [])

  const rejected = await staff.post<RecipientReview>(`${path}/reject`, { reason: 'The name is not the account’s.' })
  t.match(rejected.body, { status: 'rejected', reason: 'The name is not the account’s.' })
  const blockable = await staff.post(`/recipients/${id}/block`, { reason: TELLING })
  t.not(blockable.problem?.code, 'tipping_off', 'a reason that only staff read may say anything')
})
