/** The documents of a case: what comes in, who reads it, and when it is asked for again. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { requirementChecks } from '../../../actors/onboarding/requirement-checks.ts'
import { DAY_MS } from '../../../lib/base/clock.ts'
import { createIdSource } from '../../../lib/base/ids.ts'
import type { DownloadLink } from '../../../lib/contract/download-link.ts'
import type { KybCase } from '../../../lib/onboarding/kyb-case-schema.ts'
import { KYB_DOCUMENTS_MAX } from '../../../lib/onboarding/kyb-document.ts'
import type { KybDocument } from '../../../lib/onboarding/kyb-document-schema.ts'
import { Database } from '../../../storage/db/database.ts'
import type { PageBody } from '../../support/client.ts'
import { addPerson, newApplicant, NOOR, readCase, scansDone, uploadKyb } from '../../support/applicant.ts'
import { until } from '../../support/until.ts'
import { createWorld, paymentBody } from '../../support/world.ts'
import { PDF } from '../documents/upload.ts'
import { putCase } from '../kyc/support.ts'

const MISSING_ID = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f'
const MEBIBYTE = 1024 * 1024

t.test('the documents of a case', async (t) => {
  // The clock stands still, so that a scan takes as long as the test looks at what waits for it.
  await using world = await createWorld({ stillClock: true })
  const applicant = await newApplicant(world)
  const { id, owner, staff } = applicant
  const at = `/customers/${id}/kyb/documents`
  const noor = (await addPerson(applicant, owner, NOOR)).body
  const put = (fields: Readonly<Record<string, string>>, file = {}) => uploadKyb(world, applicant, owner, fields, file)
  const day = (days: number) => new Date(world.now() + days * DAY_MS).toISOString().slice(0, 10)

  await t.test('are uploaded for a person and a requirement, scanned, read and deleted', async (t) => {
    const pointer = `/persons/${noor.id}/documents/kyb_person_id`
    const due = (await readCase(applicant, owner)).body.requirements.currentlyDue
    t.match(
      due.find((requirement) => requirement.pointer === pointer),
      { kind: 'document', personId: noor.id, documentType: 'kyb_person_id', reason: 'missing' },
    )
    const fields = { type: 'kyb_person_id', personId: noor.id, requirement: pointer, expiresOn: day(400) }
    const made = await put(fields)
    t.equal(made.status, 201, made.text)
    t.equal(made.headers.get('location'), `/v1${at}/${made.body.id}`)
    t.match(made.body, { ...fields, fileName: 'scan.pdf', contentType: 'application/pdf', status: 'pending_scan' })
    const waiting = (await readCase(applicant, owner)).body.requirements
    t.match(waiting.pendingVerification, [{ pointer }])
    t.notOk(waiting.currentlyDue.some((requirement) => requirement.pointer === pointer))
    t.match((await owner.get(`${at}/${made.body.id}/download`)).problem, { code: 'document-not-ready' })
    await scansDone(world, applicant)
    const clean = (await readCase(applicant, owner)).body.requirements
    t.strictSame(clean.pendingVerification, [])
    t.match(clean.eventuallyDue, [{ pointer, reason: 'expires' }])
    const link = (await staff.get<DownloadLink>(`${at}/${made.body.id}/download`)).body
    t.strictSame(Buffer.from(await (await fetch(link.url)).arrayBuffer()), PDF)
    t.match((await staff.get<PageBody<KybDocument>>(at)).body.data, [{ id: made.body.id, status: 'clean' }])
    t.equal((await owner.get<KybDocument>(`${at}/${made.body.id}`)).body.expiresOn, day(400))
    const kept = await owner.send('DELETE', `/documents/${made.body.id}`)
    t.equal(kept.status, 404, 'it is deleted as a part of the case')
    // A key reads the documents of payments, and no passport.
    t.equal((await owner.get(`/documents/${made.body.id}`)).status, 404)
    t.equal((await owner.get(`/documents/${made.body.id}/download`)).status, 404)
    t.strictSame((await owner.get<PageBody<object>>('/documents')).body.data, [])
    t.equal((await owner.send('DELETE', `${at}/${made.body.id}`)).status, 204)
    t.equal((await owner.get(`${at}/${made.body.id}`)).status, 404)
    t.equal((await owner.send('DELETE', `${at}/${made.body.id}`)).status, 404)
  })

  await t.test('are refused by the field that is wrong', async (t) => {
    const refused = async (fields: Readonly<Record<string, string>>, file = {}) => {
      const { status, problem } = await put(fields, file)
      return [status, ...(problem.errors ?? []).map(({ field, code }) => `${field} ${code}`)]
    }
    t.strictSame(await refused({}), [422, '/type required'])
    t.strictSame(await refused({ type: 'passport' }), [422, '/type invalid_value'])
    t.strictSame(await refused({ type: 'kyb_other', personId: 'noor' }), [422, '/personId invalid_format'])
    t.strictSame(await refused({ type: 'kyb_other', personId: MISSING_ID }), [422, '/personId not_found'])
    t.strictSame(await refused({ type: 'kyb_other', expiresOn: '2026-02-30' }), [422, '/expiresOn invalid_format'])
    t.strictSame(await refused({ type: 'kyb_other', expiresOn: day(0) }), [422, '/expiresOn in_past'])
    t.strictSame(await refused({ type: 'kyb_articles', requirement: '/documents/kyb_licence' }), [
      422,
      '/requirement not_found',
    ])
    t.strictSame(await refused({ type: 'kyb_other' }, { bytes: Buffer.from('a,b\n'), fileName: 'x.csv' }), [
      422,
      '/file invalid_type',
    ])
    const large = Buffer.concat([PDF, randomBytes(64 * MEBIBYTE)])
    t.match((await put({ type: 'kyb_articles' }, { bytes: large })).problem, {
      status: 413,
      code: 'payload-too-large',
      maxBytes: 20 * MEBIBYTE,
    })
    t.equal((await put({ type: 'kyb_articles', requirement: '/documents/kyb_articles' })).status, 201)
  })

  await t.test('fall due again when they expire, of an approved customer too', async (t) => {
    const database = new Database(world.databaseUrl, 2)
    t.teardown(() => database.close())
    const ids = createIdSource({ now: world.now })
    const check = requirementChecks({ database, clock: { now: world.now }, ids, announce: async () => {} })
    const member = await world.person('owner').signIn()
    const seeded = { id: member.tenantId, owner: member }
    const pointer = '/documents/kyb_register_extract'
    const made = await uploadKyb(world, seeded, member, { type: 'kyb_register_extract', expiresOn: day(45) })
    t.equal(made.status, 201, made.text)
    /** The number of times that the customer was told of a change since then, once all checks that are due are done. */
    const told = async (since = 0) => {
      await check.run('', { signal: new AbortController().signal, attempt: 1 })
      const rows = await world.query(
        `select from outbox where type = 'onboarding.requirements_changed' and customer_id = $1`,
        [seeded.id],
      )
      return rows.length - since
    }
    const first = await told()
    await scansDone(world, seeded)
    // The node of the world makes the same checks, and may be at one.
    const reaches = (count: number) => until('the check is done', async () => (await told(first)) >= count)
    await reaches(1)
    t.equal(await told(first), 1, 'the scan has ended')
    t.equal(await told(first), 1, 'and nothing has changed since')
    const requirements = async (): Promise<KybCase['requirements']> =>
      (await readCase(seeded, member)).body.requirements
    t.match(await requirements(), { currentlyDue: [], eventuallyDue: [{ pointer }], awaitingActionFrom: null })
    world.advance(20 * DAY_MS)
    await member.signIn()
    t.match(await requirements(), {
      currentlyDue: [{ pointer, reason: 'expires' }],
      deadline: `${made.body.expiresOn}T00:00:00.000Z`,
      awaitingActionFrom: 'customer',
    })
    await reaches(2)
    t.equal(await told(first), 2, 'thirty days before')
    t.equal((await member.send('DELETE', `/customers/${seeded.id}/kyb/documents/${made.body.id}`)).status, 409)
    world.advance(26 * DAY_MS)
    await member.signIn()
    t.match(await requirements(), { currentlyDue: [], pastDue: [{ pointer, reason: 'expired' }] })
    await reaches(3)
    t.equal(await told(first), 3, 'on the day')
    t.match((await readCase(seeded, member)).body.capabilities[1], {
      capability: 'send',
      allowed: false,
      problems: ['customer_restricted', 'requirements_past_due'],
    })
    t.equal((await uploadKyb(world, seeded, member, { type: 'kyb_register_extract' })).status, 201)
    await scansDone(world, seeded)
    t.match(await requirements(), { currentlyDue: [], pastDue: [], deadline: null, awaitingActionFrom: null })
  })

  await t.test('have a bound', async (t) => {
    const again = await newApplicant(world)
    await world.query(
      `with d as (
          insert into document (id, customer_id, shard, purpose, file_id, file_name, content_type, size_bytes, sha256, status, created_by, created_by_name, created_at, updated_at)
          select gen_random_uuid(), $1, 0, 'kyb', gen_random_uuid(), 'x', 'application/pdf', 1, '', 'clean', $1, 'x', now(), now() from generate_series(1, $2::int)
          returning id)
        insert into kyb_document (id, customer_id, type, created_at) select id, $1, 'kyb_other', now() from d`,
      [again.id, KYB_DOCUMENTS_MAX],
    )
    const refused = await uploadKyb(world, again, again.owner, { type: 'kyb_other' })
    t.match(refused.problem, { status: 409, code: 'limit-reached', limit: KYB_DOCUMENTS_MAX, resource: 'kyb_document' })
    await world.query('delete from kyb_document where customer_id = $1', [again.id])
    await world.query('delete from document where customer_id = $1', [again.id])
  })
})

t.test('a document of a case that a payment names stays one of the payment', async (t) => {
  await using world = await createWorld()
  const member = await world.person('owner').signIn()
  const seeded = { id: member.tenantId, owner: member }
  const { client, balances, recipients } = world.seeded
  const { body: made } = await uploadKyb(world, seeded, member, { type: 'kyb_other' })
  await scansDone(world, seeded)
  const paid = await client.createPayment({
    ...paymentBody(balances.EUR, recipients.EUR, 100),
    documentIds: [made.id],
  })
  t.equal(paid.status, 201, paid.text)
  await putCase(world, seeded.id, 'info_requested', 'active')
  t.equal((await member.send('DELETE', `/customers/${seeded.id}/kyb/documents/${made.id}`)).status, 204)
  t.equal((await member.get(`/customers/${seeded.id}/kyb/documents/${made.id}`)).status, 404)
  t.equal((await member.get(`/documents/${made.id}/download`)).status, 200)
  t.match((await member.send('DELETE', `/documents/${made.id}`, undefined, { 'if-match': '*' })).problem, {
    code: 'invalid-transition',
  })
})
