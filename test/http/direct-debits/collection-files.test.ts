/** Files of direct debits at a bank of files: gathered before the cut-off, downloaded by staff, each amendment told once. */
import { createHash, randomUUID } from 'node:crypto'
import pg from 'pg'
import t from 'tap'
import type { Collection } from '../../../lib/direct-debits/collection-schema.ts'
import { isSettlementDay } from '../../../lib/direct-debits/dates.ts'
import type { CollectionFile } from '../../../lib/direct-debits/files/collection-file-schema.ts'
import type { Mandate } from '../../../lib/direct-debits/mandate-schema.ts'
import { DEBIT_SCHEMES } from '../../../lib/direct-debits/schemes.ts'
import { DIRECT_DEBIT_CHECKS } from '../../../storage/audit/audit-direct-debits.ts'
import type { PageBody } from '../../support/client.ts'
import { CREDITOR_ID, euros, nextOpenDay, openDebitBank } from '../../support/debit-bank.ts'
import { until } from '../../support/until.ts'

const bank = await openDebitBank({ dispatch: false })
const { world, client, staff, report } = bank
t.teardown(() => bank[Symbol.asyncDispose]())

const files = async () =>
  (await (await staff()).get<PageBody<CollectionFile>>('/collection-files?sort=createdAt')).body.data
const submitted = async (...all: readonly Pick<Collection, 'id'>[]) =>
  await until('the submission', async () => {
    const found = await Promise.all(all.map(({ id }) => bank.collection(id)))
    return found.every(({ status }) => status === 'submitted')
  })

t.test('the collections of a group go into one file before the cut-off, and staff download it', async (t) => {
  const first = await bank.mandate()
  const second = await bank.mandate()
  const made = [await bank.collect(first.id), await bank.collect(second.id, { amount: euros(101) })]
  const later = await bank.collect(first.id)
  const cancelled = await bank.collect(second.id)
  t.equal((await client.post(`/collections/${cancelled.id}/cancel`, undefined, randomUUID())).status, 200)
  t.same(await files(), [], 'not before the cut-off is near')
  bank.toCutOff(made[0]!)
  const [recurring, firsts] = await until('two files', async () => {
    const found = await files()
    return found.length === 2 && found.toSorted((a, b) => a.count - b.count)
  })
  t.match(firsts, {
    kind: 'collections',
    scheme: 'sepa_dd_core',
    creditorId: CREDITOR_ID,
    settlementDate: made[0]!.dueDate,
    sequenceType: 'first',
    count: 2,
    controlSum: euros(2_601),
    status: 'generated',
    downloadedAt: null,
  })
  t.match(recurring, { sequenceType: 'recurring', count: 1, controlSum: euros(2_500) })
  for (const { id } of [...made, later])
    t.match(await bank.collection(id), { status: 'submitted', attempts: [{ outcome: 'submitted' }] })
  const xml = await bank.fileOf(made[0]!)
  t.equal(createHash('sha256').update(xml).digest('hex'), firsts!.sha256)
  t.match(xml, /pain\.008\.001\.08/)
  t.match(xml, new RegExp(`<MsgId>${firsts!.messageId}</MsgId>.*<NbOfTxs>2</NbOfTxs><CtrlSum>26.01</CtrlSum>`, 's'))
  t.match(xml, new RegExp(`<SeqTp>FRST</SeqTp>.*<ReqdColltnDt>${firsts!.settlementDate}</ReqdColltnDt>`, 's'))
  for (const { endToEndId } of made) t.ok(xml.includes(`<EndToEndId>${endToEndId}</EndToEndId>`))
  t.notOk(xml.includes(later.endToEndId))
  t.notOk(xml.includes(cancelled.endToEndId))
  t.match((await (await staff()).get(`/collection-files/${firsts!.id}`)).body, {
    status: 'downloaded',
    downloadedAt: String,
  })
  t.equal((await client.get('/collection-files')).status, 403, 'files are of staff')
  t.equal((await (await staff()).get(`/collection-files/${randomUUID()}/download`)).status, 404)
  const named = await (await staff()).get<PageBody<CollectionFile>>(
    '/collection-files?filter[scheme]=sepa_dd_core&filter[status]=downloaded&limit=1',
  )
  t.match(named.body, { data: [{ id: firsts!.id }] })
})

t.test('an amendment is told once, also by two files that are made at once', async (t) => {
  const mandate = await bank.mandate()
  const before = await bank.collect(mandate.id)
  bank.toCutOff(before)
  await submitted(before)
  await report(`/collections/${before.id}`, 'collected')
  await world.query(
    `update mandate set version = version + 1, counterparty = replace(counterparty, 'NL50SBOX0100000002', 'NL23SBOX0100000003'),
      pending_amendment = $2 where id = $1`,
    [mandate.id, JSON.stringify({ since: '2026-01-01T00:00:00.000Z', account: { iban: 'NL50SBOX0100000002' } })],
  )
  const pending = async () => (await client.get<Mandate>(`/mandates/${mandate.id}`)).body.pendingAmendment
  t.match(await pending(), { account: Object })
  const one = await bank.collect(mandate.id)
  const isOpen = (date: string) => isSettlementDay(DEBIT_SCHEMES.sepa_dd_core, date)
  const other = await bank.collect(mandate.id, { dueDate: nextOpenDay(isOpen, one.dueDate) })
  // Both cut-offs have come when the files are made.
  bank.toCutOff(other)
  await submitted(one, other)
  t.equal(await pending(), null)
  const told = [await bank.fileOf(one), await bank.fileOf(other)]
  t.notSame(told[0], told[1])
  const [teller] = told.filter((xml) => xml.includes('<AmdmntInd>true</AmdmntInd>'))
  t.equal(told.filter((xml) => xml.includes('<AmdmntInd>true</AmdmntInd>')).length, 1)
  t.match(teller, /<OrgnlDbtrAcct>.*NL50SBOX0100000002.*<\/OrgnlDbtrAcct>/s)
  t.ok(told.every((xml) => xml.includes('<DbtrAcct><Id><IBAN>NL23SBOX0100000003')))
  // The bank refuses the one that told it: the next one tells it again.
  await report(`/collections/${(told[0] === teller ? one : other).id}`, 'failed', { reasonCode: 'MS03' })
  t.match(await pending(), { account: Object })
  const again = await bank.collect(mandate.id)
  bank.toCutOff(again)
  await submitted(again)
  t.match(await bank.fileOf(again), /<AmdmntInd>true<\/AmdmntInd>/)
  t.equal(await pending(), null)
})

t.test('the audit finds files that are not what their collections are', async (t) => {
  const db = new pg.Client(world.databaseUrl)
  await db.connect()
  t.teardown(() => db.end())
  const of = `where id = (select id from collection_file order by id limit 1)`
  const line = `where (file_id, object_id) = (select file_id, object_id from collection_file_line order by 1, 2 limit 1)`
  const FILE = 'files of direct debits'
  const COLLECTION = 'collections and their files'
  for (const [tampering, ...found] of [
    [`update collection_file set line_count = line_count + 1 ${of}`, FILE],
    [`update collection_file set control_sum = control_sum - 1 ${of}`, FILE],
    [`update collection_file set sha256 = repeat('0', 64) ${of}`, FILE],
    [`update stored_file set expires_at = now() where id = (select stored_file_id from collection_file ${of})`, FILE],
    [`update collection_file set settlement_date = settlement_date + 1 ${of}`, COLLECTION],
    [`update collection_file_line set amount = amount + 1 ${line}`, FILE, COLLECTION],
    [`delete from collection_file_line ${line}`, FILE, COLLECTION],
    [`delete from collection_file ${of}`, COLLECTION],
    [
      `insert into collection_file_line (file_id, object_id, amount)
        select f.id, l.object_id, l.amount from collection_file f, collection_file_line l where f.id <> l.file_id limit 1`,
      FILE,
      COLLECTION,
    ],
    [
      `update collection c set amendment = (select amendment from collection where amendment is not null limit 1)`,
      'amendments of mandates',
    ],
    ['select 1'],
  ] as const) {
    await db.query('begin')
    await db.query(tampering)
    const broken: string[] = []
    for (const { name, sql } of DIRECT_DEBIT_CHECKS) if ((await db.query(sql)).rows.length > 0) broken.push(name)
    await db.query('rollback')
    t.same(broken, found, tampering)
  }
})
