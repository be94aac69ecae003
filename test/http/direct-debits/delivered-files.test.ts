/** Files of collections at a bank of files: the adapter delivers them, and the bank's own files tell of the collections. */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Collection } from '../../../lib/direct-debits/collection-schema.ts'
import { notification, statusReport } from '../../support/bank-answers.ts'
import { ACCOUNT, openDebitBank, orderIn } from '../../support/debit-bank.ts'
import { until } from '../../support/until.ts'

const bank = await openDebitBank()
const { world } = bank
t.teardown(() => bank[Symbol.asyncDispose]())

/** Leaves a file of the bank, and lets the poller look for it. */
async function leave(name: string, text: string): Promise<void> {
  await writeFile(join(bank.directory, 'in', name), text)
  world.advance(2 * 60_000)
}
const becomes = async ({ id }: Collection, status: string) =>
  await until(`the collection to be ${status}`, async () => (await bank.collection(id)).status === status)

t.test('a file of collections is delivered, and what the bank tells of them counts', async (t) => {
  const credits = (await world.query('select from incoming_payment')).length
  const made = await Promise.all(Array.from({ length: 3 }, async () => await bank.collect((await bank.mandate()).id)))
  const [refused, kept, back] = made as [Collection, Collection, Collection]
  bank.toCutOff(refused)
  const [name = ''] = await until('the file at the bank', async () => {
    const names = (await readdir(join(bank.directory, 'out'))).filter((each) => !each.startsWith('.'))
    return names.length > 0 && names
  })
  const xml = await readFile(join(bank.directory, 'out', name), 'utf8')
  t.equal(xml, await bank.fileOf(kept), 'the bytes that staff would download')
  const [file] = await world.query<{ status: string }>('select status from collection_file')
  t.equal(file?.status, 'downloaded')

  const { messageId } = orderIn(xml, kept)
  const orders = [{ order: orderIn(xml, refused), status: 'RJCT', reason: 'AC04' }]
  await leave('report.xml', statusReport('R1', { messageId, group: 'PART', orders }))
  await becomes(refused, 'failed')
  const day = new Date(world.now()).toISOString().slice(0, 10)
  const { blockId, instructionId, endToEndId } = orderIn(xml, back)
  await leave(
    'credit.xml',
    notification('N1', ACCOUNT, [
      { amount: '50.00', direction: 'CRDT', bankRef: 'B1', day, batch: { blockId, count: 2 }, transactions: [] },
    ]),
  )
  await becomes(kept, 'collected')
  await becomes(back, 'collected')
  const transactions = [{ instructionId, endToEndId, returnReason: 'MD06' }]
  await leave(
    'return.xml',
    notification('N2', ACCOUNT, [{ amount: '25.00', direction: 'DBIT', bankRef: 'B2', day, transactions }]),
  )
  await becomes(back, 'returned')
  t.match(await bank.collection(back.id), { rTransactions: [{ type: 'refund_authorised', reasonCode: 'MD06' }] })
  t.equal((await bank.collection(kept.id)).status, 'collected')
  const events = await world.query<{ object: string; outcome: string }>(
    `select object, outcome from provider_inbox_message where object = 'collection'`,
  )
  t.equal(events.filter(({ outcome }) => outcome === 'applied').length, 4)
  t.equal((await world.query('select from incoming_payment')).length, credits, 'money of collections is no other money')
})
