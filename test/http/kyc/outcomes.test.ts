/** What the webhooks of a provider do to the persons and the case of a customer (K10). */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { KybCase } from '../../../lib/onboarding/kyb-case-schema.ts'
import { createWorld, type World } from '../../support/world.ts'
import {
  addPerson,
  bySumsub,
  caseOf,
  deliver,
  eventsOf,
  personOf,
  putCase,
  reviewBySumsub,
  sumsubApi,
  sumsubConnection,
} from './support.ts'

const RED = { reviewAnswer: 'RED', reviewRejectType: 'FINAL', rejectLabels: ['FORGERY'] }
const RETRY = {
  reviewAnswer: 'RED',
  reviewRejectType: 'RETRY',
  rejectLabels: ['UNSATISFACTORY_PHOTOS'],
  moderationComment: 'The photo is blurred.',
}
const GREEN = { reviewAnswer: 'GREEN' }

/** The seeded customer in review by Sumsub, which knows the customer and one person by their tokens. */
async function inReview(world: World) {
  const staff = await world.person('operator_admin').signIn()
  const owner = await world.person('owner').signIn()
  const connectionId = await reviewBySumsub(staff)
  const customerId = owner.tenantId
  const { id: caseId } = await caseOf(world, customerId)
  await putCase(world, customerId, 'in_review', 'in_review')
  const personId = await addPerson(world, customerId, 'Jansen')
  const token = (body: object) => owner.post(`/customers/${customerId}/kyb/sdk-tokens`, body)
  for (const body of [{}, { personId }]) {
    const reply = await token(body)
    if (reply.status !== 201) throw new Error(reply.text)
  }
  /** Sends an event of a moment, in seconds, about the customer or the person. */
  const tell = async (
    subject: 'company' | 'person',
    seconds: number,
    more: object,
    { to = connectionId, times = 1 }: { readonly to?: string; readonly times?: number } = {},
  ) => {
    const body = JSON.stringify({
      applicantId: `applicant-${subject}`,
      correlationId: randomUUID(),
      externalUserId: subject === 'company' ? caseId : personId,
      createdAtMs: new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString().replace('T', ' ').replace('Z', ''),
      ...more,
    })
    for (let time = 0; time < times; time++) {
      const reply = await deliver(world, to, body, bySumsub(body))
      if (reply.status !== 202) throw new Error(await reply.text())
    }
    return (await eventsOf(world, to)).at(-1)!
  }
  const review = (
    subject: 'company' | 'person',
    seconds: number,
    reviewResult: object,
    more: Parameters<typeof tell>[3] = {},
  ) => tell(subject, seconds, { type: 'applicantReviewed', reviewResult }, more)
  return {
    staff,
    owner,
    connectionId,
    customerId,
    personId,
    token,
    tell,
    review,
    read: () => caseOf(world, customerId),
    person: () => personOf(world, personId),
  }
}

async function worldWithApi() {
  const api = await sumsubApi()
  const world = await createWorld({ overrides: { sumsubUrl: api.url } })
  return {
    api,
    world,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await api[Symbol.asyncDispose]()
    },
  }
}

t.test('a token of the provider opens its SDK for one applicant', async (t) => {
  await using made = await worldWithApi()
  const { world, api } = made
  const { token, customerId, personId, owner } = await inReview(world)
  const given = await token({ personId })
  t.match([given.status, given.body], [201, { token: '_act-1', provider: 'sumsub' }])
  t.equal(Date.parse((given.body as { expiresAt: string }).expiresAt) > world.now(), true)
  const { body: filled } = await owner.get<KybCase>(`/customers/${customerId}/kyb`)
  t.equal(filled.mode, 'provider_sdk')
  const { id: caseId } = await caseOf(world, customerId)
  t.match(
    api.asked.slice(1).map(({ path, body }) => [path, JSON.parse(body)]),
    [
      ['/resources/accessTokens/sdk', { userId: caseId, levelName: 'company', ttlInSecs: 600 }],
      ['/resources/accessTokens/sdk', { userId: personId, levelName: 'id-and-liveness' }],
      ['/resources/accessTokens/sdk', { userId: personId, levelName: 'id-and-liveness' }],
    ],
  )
  t.match((await token({ personId: randomUUID() })).problem, {
    code: 'validation-error',
    errors: [{ field: '/personId', code: 'not_found' }],
  })
  t.equal((await token({ personId: 'x' })).status, 422)
  t.equal((await owner.post(`/customers/${randomUUID()}/kyb/sdk-tokens`, {})).status, 404)
  api.answer.status = 400
  t.match((await token({})).problem, { code: 'provider-error', status: 502 })
  await putCase(world, customerId, 'rejected', 'rejected')
  t.match((await token({})).problem, { code: 'invalid-transition', currentStatus: 'rejected' })
  const approver = await world.person('approver').signIn()
  t.equal((await approver.post(`/customers/${customerId}/kyb/sdk-tokens`, {})).status, 403)
})

t.test('green for all: the case stays in review, for staff to decide', async (t) => {
  await using made = await worldWithApi()
  const { tell, review, read, person } = await inReview(made.world)
  await tell('person', 1, { type: 'applicantCreated' })
  t.match(await person(), { status: 'draft', applicantId: 'applicant-person' })
  await tell('person', 2, { type: 'applicantPending' })
  t.match(await person(), { status: 'pending' })
  t.match(await read(), { status: 'in_review', result: { reviewAnswer: 'pending' } })
  t.match(await review('person', 3, GREEN), { status: 'processed', reason: null })
  t.match(await person(), { status: 'green' })
  t.match(await read(), { status: 'in_review', result: { reviewAnswer: 'pending' }, applicantId: null })
  await review('company', 3, GREEN)
  t.match(await read(), {
    status: 'in_review',
    customer: 'in_review',
    applicantId: 'applicant-company',
    result: { reviewAnswer: 'green', rejectType: null },
    questions: [],
  })
  await tell('person', 4, { type: 'applicantOnHold' })
  t.match([await person(), await read()], [{ status: 'pending' }, { result: { reviewAnswer: 'pending' } }])
  await tell('person', 5, { type: 'applicantReset' })
  t.match(await person(), { status: 'draft' })
})

t.test('red and final: the case is in review with a red result, and the customer learns nothing', async (t) => {
  await using made = await worldWithApi()
  const { world } = made
  const { review, read, person, customerId, staff, owner } = await inReview(world)
  await putCase(world, customerId, 'submitted', 'in_review')
  await review('person', 1, RED, { times: 3 })
  t.match(await person(), { status: 'red', labels: ['FORGERY'] })
  t.match(await read(), {
    status: 'in_review',
    customer: 'in_review',
    result: { reviewAnswer: 'red', rejectType: 'final', rejectLabels: ['FORGERY'] },
    questions: [],
  })
  t.match((await staff.get('/audit-events?limit=5')).text, /kyb_case\.provider_reviewed/)
  t.notMatch((await owner.get('/audit-events?limit=100')).text, /provider_reviewed|FORGERY/)
  const events = await world.query<{ status: string }>(
    `select status from outbox where type = 'kyb_case.status_changed' and customer_id = $1`,
    [customerId],
  )
  t.strictSame(events, [{ status: 'in_review' }], 'once')
})

t.test('red with another attempt: the customer is asked, and green goes on', async (t) => {
  await using made = await worldWithApi()
  const { world } = made
  const { review, read, person, owner } = await inReview(world)
  await review('person', 1, RETRY)
  t.match(await person(), { status: 'retry', labels: ['UNSATISFACTORY_PHOTOS'] })
  t.match(await read(), {
    status: 'info_requested',
    customer: 'info_required',
    result: { reviewAnswer: 'red', rejectType: 'retry' },
    questions: [{ code: 'provider_retry', message: 'The photo is blurred.', resolvedAt: null }],
  })
  const notices = (await owner.get('/notifications')).text
  t.match(notices, /kyb_info_requested.*The photo is blurred\./)
  await review('company', 2, { ...RETRY, moderationComment: 'Your name is on a sanctions list.' })
  const { questions } = await read()
  t.equal(questions.length, 2)
  t.notMatch(questions[1]!.message, /sanction/, 'a sentence that tells of a suspicion is not passed on')
  await review('person', 3, GREEN)
  t.match(await read(), { status: 'info_requested', customer: 'info_required' }, 'another question is open')
  await review('company', 4, GREEN)
  t.match(await read(), { status: 'in_review', customer: 'in_review', result: { reviewAnswer: 'green' } })
  t.ok((await read()).questions.every(({ resolvedAt }) => resolvedAt !== null))
})

t.test('late, repeated and strange events lead no case back', async (t) => {
  await using made = await worldWithApi()
  const { world } = made
  const { tell, review, read, person, staff, connectionId, personId } = await inReview(world)
  await review('person', 1, RETRY)
  await review('person', 10, GREEN)
  await review('company', 10, GREEN)
  const settled = [await read(), await person()]
  t.match(settled, [{ status: 'in_review', result: { reviewAnswer: 'green' } }, { status: 'green' }])
  const late = { status: 'ignored', reason: 'late' }
  t.match(await review('person', 5, RETRY), late, 'an attempt before')
  t.match(await review('person', -7 * 86_400, RED), late, 'a week before')
  t.match(await tell('person', 9, { type: 'applicantPending' }), late)
  t.match(await tell('person', 10, { type: 'applicantReset' }), late, 'of the same moment')
  t.match(await tell('person', 20, { type: 'applicantPraised' }), { status: 'ignored', reason: 'unknown_type' })
  t.match(await review('person', 20, { reviewAnswer: 'BLUE' }), { status: 'ignored', reason: 'unknown_type' })
  const stranger = { externalUserId: randomUUID(), applicantId: 'stranger' }
  const unknown = { status: 'ignored', reason: 'unknown_applicant' }
  const red = { type: 'applicantReviewed', reviewResult: RED }
  t.match(await tell('person', 20, { ...red, ...stranger }), unknown)
  t.match(await tell('person', 20, { ...red, externalUserId: null, applicantId: null }), unknown)
  t.match(await tell('person', 20, { ...red, externalUserId: "' or 1=1 --", applicantId: 'x' }), unknown)
  const other = await sumsubConnection(staff)
  t.match(await review('person', 20, RED, { to: other }), unknown, 'another connection speaks of no applicant here')
  t.strictSame([await read(), await person()], settled)
  t.match(await tell('person', 30, { ...red, externalUserId: null }), { status: 'processed' }, "by the provider's id")
  t.match(await person(), { status: 'red' })
  await world.query('delete from kyb_person where id = $1', [personId])
  t.match(await review('person', 40, GREEN), unknown, 'a person who is no longer in the case')
  t.ok(connectionId)
})

t.test('what was decided stays decided, but a red answer about an approved customer is looked at', async (t) => {
  await using made = await worldWithApi()
  const { world } = made
  const { review, read, customerId } = await inReview(world)
  let seconds = 0
  for (const [status, customer] of [
    ['draft', 'onboarding'],
    ['rejected', 'rejected'],
    ['withdrawn', 'closed'],
  ] as const)
    for (const answer of [GREEN, RETRY, RED]) {
      await putCase(world, customerId, status, customer)
      t.match(await review('company', (seconds += 1), answer), { status: 'processed' })
      t.match(await read(), { status, customer }, `${status} ${answer.reviewAnswer}`)
    }
  for (const [answer, status] of [
    [GREEN, 'approved'],
    [RED, 'in_review'],
    [RETRY, 'info_requested'],
  ] as const) {
    await putCase(world, customerId, 'approved', 'active')
    await review('company', (seconds += 1), answer)
    t.match(await read(), { status, customer: 'active' }, `approved, ${answer.reviewAnswer}`)
  }
  t.equal((await world.seeded.client.get('/balances')).status, 200, 'the customer goes on')
})

t.test('an outcome about the facts of before does not make the new facts green', async (t) => {
  await using made = await worldWithApi()
  const { world } = made
  const { tell, person, owner, customerId, personId } = await inReview(world)
  const at = (ms: number) => ({
    type: 'applicantReviewed',
    reviewResult: GREEN,
    createdAtMs: new Date(ms).toISOString().replace('T', ' ').replace('Z', ''),
  })
  await tell('person', 0, at(world.now() - 60_000))
  t.match(await person(), { status: 'green' })
  await putCase(world, customerId, 'info_requested', 'info_required')
  const path = `/customers/${customerId}/kyb/persons/${personId}`
  const etag = (await owner.get(path)).headers.get('etag') as string
  const before = world.now() - 1
  const swapped = await owner.send('PATCH', path, { lastName: 'Sanctionov' }, { 'if-match': etag })
  t.match([swapped.status, swapped.body], [200, { status: 'draft' }])
  t.match(await tell('person', 0, at(before)), { status: 'ignored', reason: 'late' })
  t.match(await person(), { status: 'draft' })
  t.match(await tell('person', 0, at(world.now())), { status: 'processed' })
  t.match(await person(), { status: 'green' }, 'a review of the new facts')
})

t.test('each applicant on a list has an alert of its own', async (t) => {
  await using made = await worldWithApi()
  const { world } = made
  const { review, staff, read, personId } = await inReview(world)
  await world.query(`update kyb_person set details = details || '{"dateOfBirth": "1960-01-01"}' where id = $1`, [
    personId,
  ])
  const hit = { ...RED, rejectLabels: ['SANCTIONS'] }
  await review('company', 1, hit)
  await review('person', 1, hit)
  await review('person', 2, hit, { times: 2 })
  const { alerts } = (await staff.get<{ alerts: { list: string; name: string }[] }>(`/kyb-cases/${(await read()).id}`))
    .body
  t.strictSame(
    alerts.map(({ list }) => list),
    ['sanctions', 'sanctions'],
  )
  t.ok(alerts.every(({ name }) => name !== ''))
  t.equal(alerts[1]!.name, 'Anna Jansen, 1960-01-01')
})
