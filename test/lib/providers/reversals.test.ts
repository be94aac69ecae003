import t from 'tap'

import { OrderFileError } from '../../../lib/providers/iso20022/order-file.ts'
import { planReversals, writeReversals, type FileReversal } from '../../../lib/providers/iso20022/reversals.ts'
import { bank, collection, DE, HEAD, party, REFERENCE, textOf } from '../../support/file-orders.ts'
import { pain007Errors } from '../../support/order-rules.ts'

const ORIGINAL = { messageId: 'FILE-1', messageName: 'pain.008.001.08' }
const OTHER = '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e60'
const reversal = (given: Partial<FileReversal> = {}): FileReversal => ({
  collection: collection({ endToEndId: 'COL0001' }),
  blockId: 'FILE-1-1',
  reason: 'MS02',
  ...given,
})

async function written(reversals: readonly FileReversal[], head = HEAD): Promise<string> {
  const plan = await planReversals(head, ORIGINAL, () => reversals)
  return await textOf(writeReversals(head, ORIGINAL, { plan, reversals: () => reversals }))
}

t.test('a reversal repeats the collection and its mandate', async (t) => {
  const xml = await written([
    reversal(),
    reversal({
      collection: collection({
        reference: OTHER,
        ultimateDebtor: party('Erika'),
        ultimateCreditor: party('Söhne'),
        debtorAgent: bank('COBADEFFXXX'),
      }),
      reason: 'AM05',
    }),
    reversal({ blockId: 'FILE-1-2', reason: 'DUPL' }),
  ])
  t.strictSame(pain007Errors(xml), [])
  t.match(xml, '<NbOfTxs>3</NbOfTxs><CtrlSum>29.97</CtrlSum>')
  t.match(xml, '<OrgnlMsgId>FILE-1</OrgnlMsgId><OrgnlMsgNmId>pain.008.001.08</OrgnlMsgNmId>')
  t.equal(xml.match(/<OrgnlPmtInfAndRvsl>/g)?.length, 2, 'neighbours of one block are written as one')
  t.match(
    xml,
    `<OrgnlInstrId>${REFERENCE.replaceAll('-', '')}</OrgnlInstrId><OrgnlEndToEndId>COL0001</OrgnlEndToEndId>`,
  )
  t.match(xml, '<RvsdInstdAmt Ccy="EUR">9.99</RvsdInstdAmt><ChrgBr>SLEV</ChrgBr>')
  t.match(xml, '<RvslRsnInf><Rsn><Cd>AM05</Cd></Rsn></RvslRsnInf>')
  t.match(xml, '<MndtId>M-0001</MndtId><DtOfSgntr>2026-01-02</DtOfSgntr>')
  t.match(xml, `<DbtrAcct><Id><IBAN>${DE.iban}</IBAN></Id></DbtrAcct>`)
})

t.test('a reversal that no bank can take is refused, with our reference', async (t) => {
  const refused = async (reversals: readonly FileReversal[], reference: string | null, field: string) => {
    const error = await written(reversals).catch((thrown: unknown) => thrown)
    t.type(error, OrderFileError)
    t.match(error, { reference, fault: { field } })
  }
  await refused([], null, 'reversals')
  await refused([reversal({ reason: 'TOOLONG' })], REFERENCE, 'reason')
  await refused([reversal({ blockId: '' })], REFERENCE, 'blockId')
  await refused([reversal({ collection: collection({ creditorId: 'X' }) })], REFERENCE, 'creditorId')
  const plan = await planReversals(HEAD, ORIGINAL, () => [reversal(), reversal()])
  await t.rejects(textOf(writeReversals(HEAD, ORIGINAL, { plan, reversals: () => [reversal()] })), OrderFileError)
})
