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
