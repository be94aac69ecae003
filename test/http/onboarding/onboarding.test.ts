/** The KYB case from the customer's side: what it declares, what it still needs, and how it is submitted. */
import t from 'tap'
import type { Customer } from '../../../lib/customers/customer-schema.ts'
import type { KybCase } from '../../../lib/onboarding/kyb-case-schema.ts'
import {
  addPerson,
  ADDRESS,
  COMPLETE_CASE,
  fillIn,
  newApplicant,
  NOOR,
  patchCase,
  readCase,
  scansDone,
  uploadKyb,
} from '../../support/applicant.ts'
import { until } from '../../support/until.ts'
import { createWorld, type World } from '../../support/world.ts'

const MISSING_ID = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'

const eventsOf = (world: World, objectId: string) =>
  world
    .query<{ type: string; status: string; previous_status: string | null }>(
      'select type, status, previous_status from outbox where object_id = $1 order by created_at, id',
      [objectId],
    )
    .then((rows) => rows.map(({ type, status, previous_status: before }) => `${type} ${before} ${status}`))
const statusOf = async (world: World, id: string) =>
  (await world.query<{ status: string }>('select status from customer where id = $1', [id]))[0]?.status
const due = ({ requirements }: KybCase) => requirements.currentlyDue.map(({ pointer }) => pointer)

t.test('a case is filled in, submitted, and answered again', async (t) => {
  await using world = await createWorld()
  const applicant = await newApplicant(world)
  const { id, owner, staff } = applicant

  await t.test('it opens as a draft that knows what the operator has told', async (t) => {
    const { status, body, headers } = await readCase(applicant, owner)
    t.equal(status, 200)
    t.match(body, {
      customerId: id,
      status: 'draft',
      mode: 'wizard',
      provider: 'sandbox',
      customerType: 'business',
      company: { legalName: 'Molen Handel BV', incorporationCountry: 'NL', legalForm: null },
      personal: null,
      expectedActivity: null,
      attestations: { allDirectors: null, allOwners: null },
      terms: null,
      steps: { company: false, addresses: false, ownership: false, activity: false, documents: false, personal: true },
      requirements: { pastDue: [], errors: [], deadline: null, awaitingActionFrom: 'customer' },
      result: null,
      submittedAt: null,
    })
    t.ok(due(body).includes('/company/legalForm'), due(body).join())
    t.notOk(due(body).includes('/company/legalName'))
    t.strictSame(
      body.capabilities.map(({ capability, requested, allowed }) => [capability, requested, allowed]),
      [
        ['receive', true, false],
        ['send', true, false],
        ['exchange', true, false],
        ['directDebits', false, false],
        ['cards', false, false],
      ],
    )
    const again = await owner.get(`/customers/${id}/kyb`, { 'if-none-match': headers.get('etag') as string })
    t.equal(again.status, 304)
  })

  await t.test('its owner changes it, and what is wrong is named', async (t) => {
    const bare = await owner.send('PATCH', `/customers/${id}/kyb`, { company: { legalForm: 'BV' } })
    t.equal(bare.status, 428)
    const old = (await readCase(applicant, owner)).headers.get('etag') as string
    const changed = await patchCase(applicant, owner, { company: { legalForm: 'BV', tradingName: 'De Molen' } })
    t.match(changed.body, { company: { legalName: 'Molen Handel BV', legalForm: 'BV', tradingName: 'De Molen' } })
    t.notOk(due(changed.body).includes('/company/legalForm'))
    const stale = await owner.send(
      'PATCH',
      `/customers/${id}/kyb`,
      { company: { legalForm: 'NV' } },
      { 'if-match': old },
    )
    t.equal(stale.status, 412)
    const wrong = await patchCase(applicant, owner, {
      company: { incorporationCountry: 'XX', incorporationDate: '2999-01-01' },
      personal: { address: { ...ADDRESS, country: 'ZZ' } },
      expectedActivity: { currencies: ['EUR', 'QQQ'], countries: ['QQ'] },
    })
    t.equal(wrong.status, 422)
    t.strictSame(wrong.problem.errors?.map(({ field }) => field).sort(), [
      '/company/incorporationCountry',
      '/company/incorporationDate',
      '/expectedActivity/countries/0',
      '/expectedActivity/currencies/1',
      '/personal/address/country',
    ])
    const cleared = await patchCase(applicant, owner, { company: { tradingName: null } })
    t.equal(cleared.body.company.tradingName, null)
    t.match((await owner.send('PATCH', `/customers/${id}/kyb`, { status: 'approved' }, { 'if-match': '*' })).problem, {
      code: 'validation-error',
      errors: [{ field: '/status', code: 'read_only_field' }],
    })
  })

  await t.test('staff fill it in for the customer, and make no statement in its name', async (t) => {
    const filled = await patchCase(applicant, staff, { company: { registrationNumber: '12345678' } })
    t.equal(filled.status, 200, filled.text)
    const stated = await patchCase(applicant, staff, { attestations: { allOwners: true }, terms: { version: '1' } })
    t.match(stated.problem, {
      errors: [
        { field: '/attestations', code: 'read_only_field' },
        { field: '/terms', code: 'read_only_field' },
      ],
    })
    const other = await world.person('support').signIn()
    t.equal((await readCase(applicant, other)).status, 200, 'all staff read')
    t.equal((await patchCase(applicant, other, { company: { taxId: '1' } })).status, 403)
  })

  await t.test('statements are dated, with the address of the person', async (t) => {
    const { body } = await patchCase(applicant, owner, {
      attestations: { allOwners: true },
      terms: { version: '2026-01' },
    })
    t.type(body.attestations.allOwners, 'string')
    t.equal(body.attestations.allDirectors, null)
    t.match(body.terms, { version: '2026-01', address: '127.0.0.1' })
    const taken = await patchCase(applicant, owner, { attestations: { allOwners: false } })
    t.equal(taken.body.attestations.allOwners, null)
  })

  await t.test('an incomplete case is refused by what it lacks', async (t) => {
    const refused = await owner.post(`/customers/${id}/kyb/submit`)
    t.equal(refused.status, 422)
    t.equal(refused.problem.code, 'validation-error')
    const fields = refused.problem.errors?.map(({ field }) => field) ?? []
    t.strictSame(fields, due((await readCase(applicant, owner)).body))
    t.ok(fields.includes('/persons') && fields.includes('/documents/kyb_articles'), fields.join())
  })

  await t.test('a complete one is in review, and its customer with it', async (t) => {
    const director = await fillIn(world, applicant)
    const ready = (await readCase(applicant, owner)).body
    t.strictSame(due(ready), [])
    t.strictSame(Object.values(ready.steps), [true, true, true, true, true, true])
    t.equal(ready.persons[director.id]?.beneficialOwner, true)
    t.equal(ready.persons[director.id]?.documents['kyb_person_id']?.length, 1, 'pointers lead to what is there')
    const submitted = await owner.post<KybCase>(`/customers/${id}/kyb/submit`)
    t.equal(submitted.status, 200, submitted.text)
    t.match(submitted.body, { status: 'in_review', requirements: { awaitingActionFrom: 'provider' } })
    t.type(submitted.body.submittedAt, 'string')
    t.equal(await statusOf(world, id), 'in_review')
    t.strictSame(
      (await eventsOf(world, submitted.body.id)).filter((event) => event.startsWith('kyb_case')),
      ['kyb_case.status_changed draft submitted', 'kyb_case.status_changed submitted in_review'],
    )
    t.strictSame(await eventsOf(world, id), [
      'customer.created null draft',
      'customer.status_changed draft onboarding',
      'customer.status_changed onboarding in_review',
    ])
    for (const refused of [
      await patchCase(applicant, owner, { company: { legalForm: 'NV' } }),
      await addPerson(applicant, owner, NOOR),
      await uploadKyb(world, applicant, owner, { type: 'kyb_other' }),
      await owner.post(`/customers/${id}/kyb/submit`),
    ])
      t.match(refused.problem, { status: 409, code: 'invalid-transition', currentStatus: 'in_review' })
  })

  await t.test('the provider is asked, and what it finds is told', async (t) => {
    const waiting = (await readCase(applicant, owner)).body
    const [director] = Object.values(waiting.persons)
    t.match(waiting.requirements.pendingVerification, [{ pointer: `/persons/${director!.id}`, kind: 'person' }])
    const told = async () =>
      (await eventsOf(world, waiting.id)).filter((event) => event.startsWith('onboarding.requirements_changed')).length
    const before = await told()
    await until('the review', async () => {
      world.advance(1_000)
      const { result, requirements } = (await readCase(applicant, owner)).body
      return result?.reviewAnswer === 'green' && requirements.pendingVerification.length === 0 ? true : null
    })
    t.match((await readCase(applicant, owner)).body, {
      status: 'in_review',
      persons: { [director!.id]: { status: 'green' } },
      requirements: { awaitingActionFrom: 'operator' },
      result: { screeningHits: 0, details: null },
    })
    t.match((await readCase(applicant, staff)).body.result, { details: { rejectLabels: [] } }, 'reviewers see more')
    t.equal(await told(), before + 1)
  })

  await t.test('questions are due until it is submitted again', async (t) => {
    const question = {
      code: 'document',
      field: '/documents/kyb_articles',
      message: 'Page 2 is missing.',
      requestedAt: world.now(),
      resolvedAt: null,
    }
    await world.query(`update kyb_case set status = 'info_requested', info_requested = $2 where customer_id = $1`, [
      id,
      JSON.stringify([question]),
    ])
    await world.query(`update customer set status = 'info_required' where id = $1`, [id])
    const asked = (await readCase(applicant, owner)).body
    t.match(asked.requirements, {
      currentlyDue: [{ pointer: question.field, reason: 'information_requested', documentType: 'kyb_articles' }],
      awaitingActionFrom: 'customer',
    })
    const document = await uploadKyb(world, applicant, owner, { type: 'kyb_articles', requirement: question.field })
    t.equal(document.status, 201, document.text)
    const waiting = await owner.post(`/customers/${id}/kyb/submit`)
    t.match(waiting.problem, { code: 'document-not-clean', documentIds: [document.body.id] })
    await scansDone(world, applicant)
    const again = await owner.post<KybCase>(`/customers/${id}/kyb/submit`)
    t.match(again.body, { status: 'in_review', infoRequested: [{ message: question.message }] })
    t.type(again.body.infoRequested[0]?.resolvedAt, 'string')
    t.equal(await statusOf(world, id), 'in_review')
    t.ok((await eventsOf(world, id)).includes('customer.status_changed info_required in_review'))
    t.ok((await eventsOf(world, asked.id)).includes('kyb_case.status_changed info_requested in_review'))
    t.match((await owner.post(`/customers/${id}/kyb/submit`)).problem, {
      code: 'invalid-transition',
      currentStatus: 'in_review',
    })
    t.strictSame(due(again.body), [])
  })

  await t.test('every change is in the trail', async (t) => {
    const actions = await world.query<{ action: string }>(
      `select distinct action from audit_event where customer_id = $1 and action like 'kyb%' order by action`,
      [id],
    )
    t.strictSame(
      actions.map(({ action }) => action),
      ['kyb_case.resubmitted', 'kyb_case.submitted', 'kyb_case.updated', 'kyb_document.uploaded', 'kyb_person.created'],
    )
    const { id: director } = Object.values((await readCase(applicant, owner)).body.persons)[0]!
    for (const object of [director, (await readCase(applicant, owner)).body.id]) {
      const { text } = await owner.get(`/audit-events?filter[objectId]=${object}&limit=100`)
      t.match(text, object === director ? /"dateOfBirth"/ : /"company\.registrationNumber"/, 'by the names of members')
      for (const value of [NOOR.dateOfBirth, ADDRESS.line1, '12345678', 'Trade in flour'])
        t.notMatch(text, value, 'more people read the trail than the case')
    }
  })
})

t.test('a customer is told whenever its requirements change', async (t) => {
  await using world = await createWorld()
  const applicant = await newApplicant(world)
  const { owner } = applicant
  const { id } = (await readCase(applicant, owner)).body
  const told = async () =>
    (await eventsOf(world, id)).filter((event) => event.startsWith('onboarding.requirements_changed')).length
  t.equal(await told(), 0)
  await patchCase(applicant, owner, { company: { legalForm: 'BV' } })
  t.equal(await told(), 1)
  await patchCase(applicant, owner, { company: { legalForm: 'NV' } })
  t.equal(await told(), 1, 'nothing else is due than before')
  await addPerson(applicant, owner, NOOR)
  t.equal(await told(), 2)
  await uploadKyb(world, applicant, owner, { type: 'kyb_articles' })
  t.equal(await told(), 3)
})

t.test('people have a case of their own kind', async (t) => {
  await using world = await createWorld()
  const applicant = await newApplicant(world, { legalName: 'Noor de Wit', customerType: 'individual' })
  const { id, owner } = applicant
  t.match((await readCase(applicant, owner)).body, {
    customerType: 'individual',
    steps: { company: true, addresses: true, ownership: true, personal: false },
  })
  const trader = await patchCase(applicant, owner, { customerType: 'sole_trader' })
  t.match(trader.body, { customerType: 'sole_trader', steps: { company: false, ownership: true } })
  t.match((await owner.get<Customer>(`/customers/${id}`)).body, { customerType: 'sole_trader', risk: null })
  t.match(await world.query('select customer_type, identity_type from customer where id = $1', [id]), [
    { customer_type: 'sole_trader', identity_type: 'individual' },
  ])
  await patchCase(applicant, owner, { customerType: 'individual' })
  const { company: _, attestations: __, ...rest } = COMPLETE_CASE
  const { firstName, lastName, dateOfBirth, nationality } = NOOR
  const marks = `N${'\u0301'.repeat(98)}r`
  const filled = await patchCase(applicant, owner, {
    ...rest,
    personal: {
      ...{ firstName: marks, lastName, dateOfBirth, nationality, address: ADDRESS },
      countryOfResidence: 'NL',
      email: owner.login.email,
      phone: '+31201234567',
      pepDeclared: false,
    },
  })
  t.strictSame(due(filled.body), ['/documents/kyb_person_id', '/documents/kyb_proof_of_address'])
  const long = await patchCase(applicant, owner, { personal: { firstName: `${firstName}${'\u0301'.repeat(200)}` } })
  t.match(long.problem, { errors: [{ field: '/personal/firstName', code: 'too_long' }] })
  await uploadKyb(world, applicant, owner, { type: 'kyb_person_id' })
  const infected = await uploadKyb(
    world,
    applicant,
    owner,
    { type: 'kyb_proof_of_address' },
    { fileName: 'SBX:INFECTED.pdf' },
  )
  await scansDone(world, applicant)
  t.match((await readCase(applicant, owner)).body.requirements, {
    currentlyDue: [{ pointer: '/documents/kyb_proof_of_address', reason: 'not_clean' }],
    errors: [{ requirement: '/documents/kyb_proof_of_address', code: 'document_not_clean' }],
  })
  const refused = await owner.post(`/customers/${id}/kyb/submit`)
  t.match(refused.problem, { code: 'document-not-clean', documentIds: [infected.body.id] })
  t.equal((await owner.send('DELETE', `/customers/${id}/kyb/documents/${infected.body.id}`)).status, 204)
  await uploadKyb(world, applicant, owner, { type: 'kyb_proof_of_address' })
  await scansDone(world, applicant)
  const submitted = await owner.post<KybCase>(`/customers/${id}/kyb/submit`)
  t.equal(submitted.body.status, 'in_review', submitted.text)
})

t.test('a withdrawn case closes its customer', async (t) => {
  await using world = await createWorld()
  const applicant = await newApplicant(world)
  const { id, owner, staff } = applicant
  const withdrawn = await owner.post<KybCase>(`/customers/${id}/kyb/withdraw`)
  t.equal(withdrawn.status, 200, withdrawn.text)
  t.match(withdrawn.body, { status: 'withdrawn', requirements: { currentlyDue: [], awaitingActionFrom: null } })
  t.equal(await statusOf(world, id), 'closed')
  t.equal((await readCase(applicant, owner)).status, 403, 'its members have left')
  t.equal((await readCase(applicant, staff)).body.status, 'withdrawn')
  const again = await staff.post(`/customers/${id}/kyb/withdraw`)
  t.match(again.problem, { status: 409, code: 'invalid-transition' })

  for (const [status, customer, by] of [
    ['submitted', 'in_review', 'owner'],
    ['in_review', 'in_review', 'staff'],
    ['info_requested', 'info_required', 'owner'],
  ] as const) {
    const other = await newApplicant(world)
    await world.query('update kyb_case set status = $2 where customer_id = $1', [other.id, status])
    await world.query('update customer set status = $2 where id = $1', [other.id, customer])
    const reply = await other[by].post<KybCase>(`/customers/${other.id}/kyb/withdraw`)
    t.match([reply.status, reply.body], [200, { status: 'withdrawn' }], status)
    t.equal(await statusOf(world, other.id), 'closed', status)
    t.ok((await eventsOf(world, other.id)).includes(`customer.status_changed ${customer} closed`), status)
    t.ok((await eventsOf(world, reply.body.id)).includes(`kyb_case.status_changed ${status} withdrawn`), status)
  }

  const active = await world.person('owner').signIn()
  const seeded = { id: active.tenantId }
  t.match((await readCase(seeded, active)).body, {
    status: 'approved',
    requirements: { currentlyDue: [], awaitingActionFrom: null },
    capabilities: [{ allowed: true }, { allowed: true }, { allowed: true }, { allowed: false }, { allowed: false }],
  })
  t.match((await active.post(`/customers/${seeded.id}/kyb/withdraw`)).problem, { code: 'invalid-transition' })
  t.match((await patchCase(seeded, active, { company: { legalForm: 'BV' } })).problem, { code: 'invalid-transition' })
  t.equal((await patchCase(seeded, active, { terms: { version: '2' } })).body.terms?.version, '2', 'renewed')
})

t.test('a case is for owners and administrators of its customer, and for its operator', async (t) => {
  await using world = await createWorld()
  const applicant = await newApplicant(world)
  const { id, staff } = applicant
  const preparer = await world.person('preparer').signIn()
  t.match((await readCase({ id: preparer.tenantId }, preparer)).problem, { code: 'insufficient-scope' })
  const owner = await world.person('owner').signIn()
  t.equal((await readCase(applicant, owner)).status, 404, 'another customer')
  t.equal((await addPerson(applicant, owner, NOOR)).status, 404)
  t.equal((await readCase({ id: MISSING_ID }, staff)).status, 404)
  const { client } = world.seeded
  t.equal((await client.get(`/customers/${client.tenantId}/kyb`)).status, 403, 'keys of customers read no case')
  const operator = await world.operator.get<KybCase>(`/customers/${id}/kyb`)
  t.match([operator.status, operator.body.status], [200, 'draft'], 'keys of the operator do')
})
