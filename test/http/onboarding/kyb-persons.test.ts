/** The people and companies of a case: who owns what, and what is refused. */
import t from 'tap'
import { KYB_PERSONS_MAX } from '../../../lib/onboarding/kyb-person.ts'
import type { KybPerson } from '../../../lib/onboarding/kyb-person-schema.ts'
import type { PageBody } from '../../support/client.ts'
import { addPerson, newApplicant, NOOR, readCase, scansDone, uploadKyb } from '../../support/applicant.ts'
import { createWorld } from '../../support/world.ts'

const MISSING_ID = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'

t.test('the people and companies of a case', async (t) => {
  await using world = await createWorld()
  const applicant = await newApplicant(world)
  const { id, owner, staff } = applicant
  const at = `/customers/${id}/kyb/persons`
  const change = async (person: string, body: object) => {
    const etag = (await owner.get(`${at}/${person}`)).headers.get('etag') as string
    return await owner.send<KybPerson>('PATCH', `${at}/${person}`, body, { 'if-match': etag })
  }
  const remove = async (person: string) => {
    const etag = (await owner.get(`${at}/${person}`)).headers.get('etag') as string
    return await owner.send('DELETE', `${at}/${person}`, undefined, { 'if-match': etag })
  }
  const add = async (body: object) => (await addPerson(applicant, owner, body)).body

  await t.test('are made, read, changed and removed', async (t) => {
    const made = await addPerson(applicant, owner, { ...NOOR, ownershipPercent: '33.3333' })
    t.equal(made.status, 201, made.text)
    t.equal(made.headers.get('location'), `/v1${at}/${made.body.id}`)
    t.match(made.body, {
      kind: 'person',
      firstName: 'Noor',
      roles: ['director'],
      ownershipPercent: '33.3333',
      effectivePercent: '33.3333',
      beneficialOwner: true,
      nominee: false,
      status: 'draft',
      rejectLabels: null,
      address: { line1: 'Damrak', line2: null },
    })
    const read = await owner.get<KybPerson>(`${at}/${made.body.id}`)
    t.strictSame([read.text, read.headers.get('etag')], [made.text, made.headers.get('etag')])
    const old = made.headers.get('etag') as string
    const changed = await change(made.body.id, { roles: ['director', 'authorised_signatory'], email: null })
    t.match(changed.body, { roles: ['director', 'authorised_signatory'], firstName: 'Noor' })
    const stale = await owner.send('PATCH', `${at}/${made.body.id}`, { nominee: true }, { 'if-match': old })
    t.equal(stale.status, 412)
    t.equal((await owner.send('PATCH', `${at}/${made.body.id}`, { nominee: true })).status, 428)
    t.match((await staff.get<PageBody<KybPerson>>(at)).body.data, [{ id: made.body.id, rejectLabels: [] }])
    t.equal((await remove(made.body.id)).status, 204)
    t.equal((await owner.get(`${at}/${made.body.id}`)).status, 404)
    const trail = (await owner.get(`/audit-events?filter[objectId]=${made.body.id}`)).text
    t.match(trail, /kyb_person\.created/)
    t.match(trail, /kyb_person\.updated/)
    t.match(trail, /kyb_person\.deleted/)
    t.notMatch(trail, /1980-02-01|Damrak/, 'more people read the trail than the case')
    t.strictSame((await owner.get<PageBody<KybPerson>>(at)).body.data, [])
  })

  await t.test('own the customer along chains', async (t) => {
    const noor = await add({ ...NOOR, ownershipPercent: null })
    const holding = await add({
      kind: 'company',
      legalName: 'Holding BV',
      ownershipPercent: '66.6666',
      ownedBy: [{ ownerId: noor.id.toUpperCase(), sharePercent: '50' }],
    })
    const read = async (person: KybPerson) => (await owner.get<KybPerson>(`${at}/${person.id}`)).body
    t.match(holding, { kind: 'company', ownedBy: [{ ownerId: noor.id, sharePercent: '50' }], firstName: null })
    t.match(await read(noor), { ownershipPercent: null, effectivePercent: '33.3333', beneficialOwner: true })
    const top = await add({ kind: 'company', ownedBy: [{ ownerId: holding.id, sharePercent: '10' }] })
    const circle = await change(holding.id, {
      ownedBy: [
        { ownerId: noor.id, sharePercent: '50' },
        { ownerId: top.id, sharePercent: '1' },
      ],
    })
    t.match(circle.problem, { status: 422, errors: [{ field: '/ownedBy/1/ownerId', code: 'invalid_value' }] })
    const most = await addPerson(applicant, owner, { ...NOOR, ownershipPercent: '33.3335' })
    t.match(most.problem, { status: 422, errors: [{ field: '/ownershipPercent', code: 'too_large' }] })
    const both = await change(holding.id, {
      ownedBy: [
        { ownerId: noor.id, sharePercent: '99.9999' },
        { ownerId: top.id, sharePercent: '0.0002' },
      ],
    })
    t.match(both.problem, { errors: [{ field: '/ownedBy/1/ownerId' }] })
    const kept = await remove(noor.id)
    t.match(kept.problem, { status: 422, errors: [{ field: 'path.personId' }] })
    t.equal((await change(holding.id, { ownedBy: null })).status, 200)
    t.match(await read(noor), { effectivePercent: '0', beneficialOwner: false })
    for (const person of [top, holding, noor]) t.equal((await remove(person.id)).status, 204)
  })

  await t.test('are refused by the field that is wrong', async (t) => {
    const refused = async (body: object) => {
      const { status, problem } = await addPerson(applicant, owner, body)
      return [status, ...(problem.errors ?? []).map(({ field, code }) => `${field} ${code}`)]
    }
    t.strictSame(await refused({ ...NOOR, legalName: 'Noor BV' }), [422, '/legalName not_applicable'])
    t.strictSame(await refused({ kind: 'company', lastName: 'de Wit' }), [422, '/lastName not_applicable'])
    t.strictSame(await refused({ ...NOOR, nationality: 'XX' }), [422, '/nationality invalid_value'])
    t.strictSame(await refused({ ...NOOR, dateOfBirth: '2999-01-01' }), [422, '/dateOfBirth invalid_value'])
    t.strictSame(await refused({ ...NOOR, ownershipPercent: '33.33333' }), [422, '/ownershipPercent invalid_format'])
    t.strictSame(await refused({ ...NOOR, ownershipPercent: 33 }), [422, '/ownershipPercent invalid_type'])
    t.strictSame(await refused({ ...NOOR, ownershipPercent: '101' }), [422, '/ownershipPercent too_large'])
    t.strictSame(await refused({ ...NOOR, roles: ['king'] }), [422, '/roles/0 invalid_value'])
    t.strictSame(await refused({ ...NOOR, firstName: 'e\u0301'.repeat(101) }), [422, '/firstName too_long'])
    t.strictSame(await refused({ kind: 'company', ownedBy: [{ ownerId: MISSING_ID, sharePercent: '1' }] }), [
      422,
      '/ownedBy/0/ownerId not_found',
    ])
    t.strictSame(await refused({ ...NOOR, status: 'green' }), [422, '/status read_only_field'])
    const marks = await addPerson(applicant, owner, { ...NOOR, lastName: `N${'\u0301'.repeat(98)}` })
    t.equal(marks.status, 201, 'a name of a hundred code points')
    t.equal((await remove(marks.body.id)).status, 204)
  })

  await t.test('take their documents with them', async (t) => {
    const noor = await add(NOOR)
    const document = await uploadKyb(world, applicant, owner, { type: 'kyb_person_id', personId: noor.id })
    await scansDone(world, applicant)
    t.ok((await readCase(applicant, owner)).body.persons[noor.id]?.documents['kyb_person_id'])
    t.equal((await remove(noor.id)).status, 204)
    t.equal((await owner.get(`/customers/${id}/kyb/documents/${document.body.id}`)).status, 404)
    t.strictSame(await world.query('select from document where customer_id = $1', [id]), [], 'nor is the file left')
  })

  await t.test('are verified again once they have changed', async (t) => {
    const noor = await add(NOOR)
    const retry = () => world.query(`update kyb_person set status = 'retry' where id = $1`, [noor.id])
    await retry()
    const { requirements } = (await readCase(applicant, owner)).body
    t.match(requirements.errors, [{ requirement: `/persons/${noor.id}`, code: 'verification_failed' }])
    t.equal((await change(noor.id, { lastName: 'Wit' })).body.status, 'draft')
    await retry()
    await uploadKyb(world, applicant, owner, { type: 'kyb_person_id', personId: noor.id })
    t.equal((await owner.get<KybPerson>(`${at}/${noor.id}`)).body.status, 'draft')
    t.equal((await remove(noor.id)).status, 204)
  })

  await t.test('have a bound', async (t) => {
    await world.query(
      `insert into kyb_person (id, customer_id, kind, details, created_at, updated_at)
        select gen_random_uuid(), $1, 'person', $2, now(), now() from generate_series(1, $3::int)`,
      [id, JSON.stringify({}), KYB_PERSONS_MAX],
    )
    const refused = await addPerson(applicant, owner, NOOR)
    t.match(refused.problem, { status: 409, code: 'limit-reached', limit: KYB_PERSONS_MAX, resource: 'kyb_person' })
  })
})
