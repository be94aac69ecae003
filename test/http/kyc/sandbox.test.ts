/** Reviews by the sandbox's provider, which the names of company and persons decide, from submission to result. */
import t from 'tap'
import type { KybCase } from '../../../lib/onboarding/kyb-case-schema.ts'
import type { KybPerson } from '../../../lib/onboarding/kyb-person-schema.ts'
import { fillIn, newApplicant, patchCase, readCase, type Applicant } from '../../support/applicant.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'

/** Submits the case of a customer that is complete. */
async function submitted(
  world: World,
  { company = 'Molen BV', person = 'de Wit' }: { readonly company?: string; readonly person?: string } = {},
): Promise<Applicant & { readonly directorId: string }> {
  const applicant = await newApplicant(world, { legalName: company })
  const director = await fillIn(world, applicant, { lastName: person })
  const reply = await applicant.owner.post<KybCase>(`/customers/${applicant.id}/kyb/submit`)
  if (reply.status !== 200) throw new Error(reply.text)
  return { ...applicant, directorId: director.id }
}

const directorOf = async ({ id, staff, directorId }: Awaited<ReturnType<typeof submitted>>): Promise<KybPerson> =>
  (await staff.get<{ data: KybPerson[] }>(`/customers/${id}/kyb/persons`)).body.data.find(
    (person) => person.id === directorId,
  )!

/** The events about a customer that were used. */
const eventsAbout = (world: World, customerId: string) =>
  world.query<{ status: string }>('select status from kyc_event where customer_id = $1 order by id', [customerId])

/** Waits until the case is as `wanted` says, as staff read it. */
const reaching = async (applicant: Applicant, wanted: (found: KybCase) => boolean): Promise<KybCase> =>
  await until('the case has its result', async () => {
    const { body } = await readCase(applicant, applicant.staff)
    return wanted(body) && body
  })

t.test('without a word all are green after five seconds, and the case waits for staff', async (t) => {
  await using world = await createWorld({ stillClock: true })
  const applicant = await submitted(world)
  const asked = (await readCase(applicant, applicant.owner)).body
  t.match(asked, { status: 'in_review', provider: 'sandbox', applicantId: `sbx-${asked.id}` })
  t.match(asked, { result: { reviewAnswer: 'pending' }, requirements: { awaitingActionFrom: 'provider' } })
  t.match(await directorOf(applicant), { status: 'pending' })
  world.advance(4_999)
  await world.pollOnce()
  t.match((await readCase(applicant, applicant.staff)).body, { result: { reviewAnswer: 'pending' } })
  t.strictSame(await world.query('select from kyc_event'), [], 'not before')
  world.advance(1)
  const done = await reaching(applicant, ({ result }) => result?.reviewAnswer === 'green')
  t.match(done, { status: 'in_review', result: { screeningHits: 0 }, requirements: { awaitingActionFrom: 'operator' } })
  t.match(await directorOf(applicant), { status: 'green', applicantId: `sbx-${applicant.directorId}` })
  t.strictSame(await world.query('select from sandbox_kyc_review'), [])
})

t.test('red is final: staff decide, and the customer reads nothing of it', async (t) => {
  await using world = await createWorld()
  const applicant = await submitted(world, { person: 'SBX:RED' })
  const done = await reaching(applicant, ({ result }) => result?.details?.rejectType === 'final')
  t.match(done, { status: 'in_review', result: { reviewAnswer: 'red', details: { rejectLabels: ['FORGERY'] } } })
  t.match(await directorOf(applicant), { status: 'red' })
  const own = (await readCase(applicant, applicant.owner)).text
  t.notMatch(own, /FORGERY|SBX:RED.*FORGERY/)
})

t.test('another attempt: the customer is asked, changes the person and submits again', async (t) => {
  await using world = await createWorld()
  for (const [word, message] of [
    ['SBX:RETRY', 'The photo of the document cannot be read.'],
    ['SBX:DOC-EXPIRED', 'The document has expired.'],
  ] as const) {
    const applicant = await submitted(world, { person: word })
    const { id, owner, directorId } = applicant
    const asked = await reaching(applicant, ({ status }) => status === 'info_requested')
    t.match(asked.infoRequested, [
      { code: 'provider_retry', field: `/persons/${directorId}`, message, resolvedAt: null },
    ])
    t.match(await directorOf(applicant), { status: 'retry' })
    await until('the company is reviewed', async () => (await eventsAbout(world, id)).length === 2)
    const path = `/customers/${id}/kyb/persons/${directorId}`
    const etag = (await owner.get(path)).headers.get('etag') as string
    t.equal((await owner.send('PATCH', path, { lastName: 'de Wit' }, { 'if-match': etag })).status, 200)
    const again = await owner.post<KybCase>(`/customers/${id}/kyb/submit`)
    t.match([again.status, again.body], [200, { status: 'in_review' }], again.text)
    const done = await reaching(applicant, ({ result }) => result?.reviewAnswer === 'green')
    t.match(done, { status: 'in_review' })
    t.match(await directorOf(applicant), { status: 'green' })
    const statuses = (await eventsAbout(world, id)).map(({ status }) => status)
    t.strictSame(statuses, ['processed', 'processed', 'processed'], 'the company was green already')
  }
})

t.test('the company has words of its own, and a hit is counted', async (t) => {
  await using world = await createWorld()
  const missing = await submitted(world, { company: 'Molen SBX:UBO-MISSING' })
  t.match(await reaching(missing, ({ status }) => status === 'info_requested'), {
    result: { details: { rejectLabels: ['COMPANY_NOT_DEFINED_BENEFICIARIES'] } },
    infoRequested: [{ field: null, message: 'Not all owners of the company are named.' }],
  })
  // The review of the director changes the case, too.
  await until('the director is reviewed', async () => (await directorOf(missing)).status === 'green')
  t.equal((await patchCase(missing, missing.owner, { company: { legalName: 'Molen BV' } })).status, 200)
  t.equal((await missing.owner.post(`/customers/${missing.id}/kyb/submit`)).status, 200)
  await reaching(missing, ({ result }) => result?.reviewAnswer === 'green')
  const hit = await submitted(world, { company: 'SBX:HIT Trading' })
  t.match(await reaching(hit, ({ result }) => result?.reviewAnswer === 'green'), {
    status: 'in_review',
    result: { screeningHits: 1, details: { screening: [{ list: 'sanctions', status: 'potential_match' }] } },
  })
})

t.test('SBX:SLOW takes a minute', async (t) => {
  await using world = await createWorld({ stillClock: true })
  const applicant = await submitted(world, { company: 'Molen SBX:SLOW', person: 'SBX:SLOW' })
  const reports = async () => (await world.query('select from kyc_event')).length
  world.advance(59_999)
  await world.pollOnce()
  t.equal(await reports(), 0)
  world.advance(1)
  await reaching(applicant, ({ result }) => result?.reviewAnswer === 'green')
  t.equal(await reports(), 2)
})

t.test('where staff review without a provider nothing is asked, and nothing waits for one', async (t) => {
  await using world = await createWorld()
  await world.query(`update kyc_connection set status = 'verified', version = version + 1`)
  const applicant = await submitted(world, { person: 'SBX:RED' })
  t.match((await readCase(applicant, applicant.staff)).body, {
    status: 'in_review',
    provider: 'manual',
    result: null,
    requirements: { awaitingActionFrom: 'operator' },
  })
  t.match(await directorOf(applicant), { status: 'draft' })
  t.strictSame(await world.query('select from sandbox_kyc_review'), [])
})

/** Has staff ask the customer, so that the facts of its case may change. */
async function asked(applicant: Awaited<ReturnType<typeof submitted>>): Promise<void> {
  const { body } = await readCase(applicant, applicant.staff)
  const path = `/kyb-cases/${body.id}/request-info`
  const { status, text } = await applicant.staff.post(path, { message: 'Please check the names.', requirements: [] })
  if (status !== 200) throw new Error(text)
}

async function patchDirector({ id, owner, directorId }: Awaited<ReturnType<typeof submitted>>, body: object) {
  const path = `/customers/${id}/kyb/persons/${directorId}`
  const etag = (await owner.get(path)).headers.get('etag') as string
  return await owner.send<KybPerson>('PATCH', path, body, { 'if-match': etag })
}

t.test('a person or a company that is another than the reviewed is reviewed anew', async (t) => {
  await using world = await createWorld({ stillClock: true })
  const applicant = await submitted(world)
  const { id, owner, staff } = applicant
  const { id: caseId } = (await readCase(applicant, staff)).body
  const approve = async () => (await staff.post(`/kyb-cases/${caseId}/approve`)).problem
  const allGreen = async () => {
    world.advance(5_000)
    await world.pollOnce()
    await reaching(applicant, ({ result }) => result?.reviewAnswer === 'green')
    t.match(await directorOf(applicant), { status: 'green' })
  }
  const resubmit = async () => {
    const { status, body, text } = await owner.post<KybCase>(`/customers/${id}/kyb/submit`)
    t.equal(status, 200, text)
    return body
  }
  await allGreen()

  await asked(applicant)
  t.match((await patchDirector(applicant, { email: 'noor@molen.example' })).body, { status: 'green' })
  t.match((await patchDirector(applicant, { lastName: 'de Wit', roles: ['director', 'ubo'] })).body, {
    status: 'green',
  })
  await patchCase(applicant, owner, { company: { website: 'https://molen.example' } })
  t.match(await resubmit(), { result: { reviewAnswer: 'green' } }, 'the same person and company')

  await asked(applicant)
  const swapped = await patchDirector(applicant, { firstName: 'Viktor', dateOfBirth: '1960-01-01' })
  t.match(swapped.body, { status: 'draft' })
  t.match(await resubmit(), { result: { reviewAnswer: 'pending' } })
  t.match(await directorOf(applicant), { status: 'pending' })
  t.match(await approve(), { status: 409, code: 'kyc_incomplete', persons: [applicant.directorId] })
  await allGreen()

  for (const changes of [
    [{ company: { registrationNumber: '87654321' } }],
    [{ personal: { lastName: 'Sanctionov' } }],
    [{ customerType: 'sole_trader' }, { customerType: 'business' }],
  ]) {
    await asked(applicant)
    for (const change of changes) t.equal((await patchCase(applicant, owner, change)).status, 200)
    t.match(await resubmit(), { result: { reviewAnswer: 'pending' } }, JSON.stringify(changes))
    t.match(await approve(), { status: 409, code: 'kyc_incomplete', persons: [] })
    await allGreen()
  }
})

t.test('a review that is under way says nothing of a person who has changed', async (t) => {
  await using world = await createWorld({ stillClock: true })
  const applicant = await submitted(world)
  await asked(applicant)
  t.match((await patchDirector(applicant, { lastName: 'Sanctionov' })).body, { status: 'draft' })
  world.advance(5_000)
  await world.pollOnce()
  await until('the company is reviewed', async () => (await eventsAbout(world, applicant.id)).length === 1)
  t.match(await directorOf(applicant), { status: 'draft' })
  t.strictSame(await world.query('select from sandbox_kyc_review'), [], 'no other review will end')
})
