import fc from 'fast-check'
import t, { type Test } from 'tap'

import { exponentOf, type CurrencyCode } from '../../../lib/base/currency.ts'
import {
  orderFault,
  planCreditTransfers,
  writeCreditTransfers,
} from '../../../lib/providers/iso20022/credit-transfers.ts'
import { collectionFault, planDirectDebits, writeDirectDebits } from '../../../lib/providers/iso20022/direct-debits.ts'
import type { FileCollection, FileOrder } from '../../../lib/providers/iso20022/messages.ts'
import { OrderFileError } from '../../../lib/providers/iso20022/order-file.ts'
import { RAILS, type Rail } from '../../../lib/rails/rails.ts'
import { CHARACTERS } from '../../../lib/rails/reference.ts'
import { bank, collection, DE, fileOf, HEAD, NL, order, party, REFERENCE } from '../../support/file-orders.ts'
import { pain001Errors, pain008Errors } from '../../support/order-rules.ts'
import { parse, type Element } from '../../support/xml-rules.ts'

const transfers = (orders: readonly FileOrder[], head = HEAD) =>
  fileOf(planCreditTransfers, writeCreditTransfers, orders, head)
const debits = (collections: readonly FileCollection[], head = HEAD) =>
  fileOf(planDirectDebits, writeDirectDebits, collections, head)

// ── A reader of files that shares nothing with the writers
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const all = (element: Element, path: string): Element[] =>
  path
    .split('/')
    .reduce((found, name) => found.flatMap(({ children }) => children.filter((each) => each.name === name)), [element])
const textAt = (element: Element, path: string): string | null => all(element, path)[0]?.text ?? null

/** Minor units of a decimal in a currency, by moving digits. */
function cents(decimal: string, currency: string): bigint {
  const [whole, fraction = ''] = decimal.split('.')
  return BigInt(`${whole}${fraction.padEnd(exponentOf(currency as CurrencyCode), '0')}`)
}

/** Adds decimals of any length, digit by digit of the longest. */
function added(decimals: readonly string[]): bigint {
  return decimals.reduce((sum, each) => {
    const [whole, fraction = ''] = each.split('.')
    return sum + BigInt(`${whole}${fraction.padEnd(17, '0')}`)
  }, 0n)
}

interface ReadOrder {
  readonly block: Element
  readonly order: Element
}

/** The orders of a file with their blocks; the counts and sums of the file and its blocks are checked. */
function ordersIn(t: Test, xml: string, tag: string): ReadOrder[] {
  const message = parse(xml).children[0]!
  const blocks = all(message, 'PmtInf')
  const amounts = (orders: readonly Element[]) =>
    added(orders.map((each) => textAt(each, 'Amt/InstdAmt') ?? textAt(each, 'InstdAmt')!))
  const every = blocks.flatMap((block) => all(block, tag))
  t.equal(textAt(message, 'GrpHdr/NbOfTxs'), String(every.length))
  t.equal(added([textAt(message, 'GrpHdr/CtrlSum')!]), amounts(every))
  t.equal(new Set(blocks.map((block) => textAt(block, 'PmtInfId'))).size, blocks.length, 'ids of blocks differ')
  return blocks.flatMap((block) => {
    const orders = all(block, tag)
    t.equal(textAt(block, 'NbOfTxs'), String(orders.length))
    t.equal(added([textAt(block, 'CtrlSum')!]), amounts(orders))
    return orders.map((each) => ({ block, order: each }))
  })
}

const termsOf = (block: Element) => ({
  level: textAt(block, 'PmtTpInf/SvcLvl/Cd'),
  instrument: textAt(block, 'PmtTpInf/LclInstrm/Cd') ?? textAt(block, 'PmtTpInf/LclInstrm/Prtry'),
  bearer: textAt(block, 'ChrgBr'),
})

// ── Credit transfers
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

t.test('a credit transfer of SEPA is written as the bank wants it', async (t) => {
  const xml = await transfers([order()])
  t.strictSame(pain001Errors(xml), [])
  const [{ block, order: read } = { block: null!, order: null! }] = ordersIn(t, xml, 'CdtTrfTxInf')
  t.strictSame(termsOf(block), { level: 'SEPA', instrument: null, bearer: 'SLEV' })
  t.equal(textAt(block, 'PmtMtd'), 'TRF')
  t.equal(textAt(block, 'ReqdExctnDt/Dt'), '2026-11-24')
  t.equal(textAt(block, 'DbtrAcct/Id/IBAN'), NL.iban)
  t.equal(textAt(block, 'DbtrAgt/FinInstnId/BICFI'), 'SBOXNL2A')
  t.equal(textAt(read, 'PmtId/InstrId'), REFERENCE.replaceAll('-', ''))
  t.equal(textAt(read, 'PmtId/EndToEndId'), 'PAY0000000001')
  t.equal(textAt(read, 'Amt/InstdAmt'), '123.45')
  t.equal(textAt(read, 'CdtrAcct/Id/IBAN'), DE.iban)
  t.equal(textAt(read, 'RmtInf/Ustrd'), 'Invoice 4711')
  t.equal(all(read, 'CdtrAgt').length, 0, 'a BIC is not needed')
  const head = parse(xml).children[0]!
  t.equal(textAt(head, 'GrpHdr/CreDtTm'), '2026-11-23T12:00:00.000Z')
  t.equal(textAt(head, 'GrpHdr/InitgPty/Nm'), 'Vostro & Söhne BV')
  t.equal(textAt(head, 'GrpHdr/InitgPty/Id/OrgId/Othr/Id'), 'KVK12345')
})

t.test('each rail has its codes, and a bank may want others', async (t) => {
  const on = (rail: Rail, more: Partial<FileOrder> = {}) => order({ rail, ...more })
  const gb = {
    creditorAccount: { number: '31926819', scheme: null },
    creditorAgent: { ...bank(null), clearing: { system: 'GBDSC', member: '601613' } },
  }
  const xml = await transfers([
    on('sepa_instant'),
    on('target2', { chargeBearer: 'sender' }),
    on('swift', { currency: 'KWD', amount: 1_234n, creditorAgent: bank('NBOKKWKW') }),
    on('faster_payments', { currency: 'GBP', ...gb, chargeBearer: null }),
  ])
  t.strictSame(pain001Errors(xml), [])
  const read = ordersIn(t, xml, 'CdtTrfTxInf')
  t.strictSame(
    read.map(({ block }) => termsOf(block)),
    [
      { level: 'SEPA', instrument: 'INST', bearer: 'SLEV' },
      { level: 'URGP', instrument: null, bearer: 'DEBT' },
      { level: null, instrument: null, bearer: 'SHAR' },
      { level: null, instrument: null, bearer: null },
    ],
  )
  t.equal(textAt(read[2]!.order, 'Amt/InstdAmt'), '1.234', 'three decimals')
  t.equal(textAt(read[2]!.order, 'CdtrAgt/FinInstnId/BICFI'), 'NBOKKWKW')
  t.equal(textAt(read[3]!.order, 'CdtrAcct/Id/Othr/Id'), '31926819')
  t.equal(textAt(read[3]!.order, 'CdtrAgt/FinInstnId/ClrSysMmbId/ClrSysId/Cd'), 'GBDSC')
  t.equal(textAt(read[3]!.order, 'CdtrAgt/FinInstnId/ClrSysMmbId/MmbId'), '601613')

  const agreed = await transfers([on('swift'), on('sepa')], {
    ...HEAD,
    batchBooking: true,
    paymentTypes: { swift: { serviceLevel: 'G001', localInstrument: { proprietary: 'OUR-WORD' } } },
  })
  t.strictSame(pain001Errors(agreed), [])
  const [first, second] = ordersIn(t, agreed, 'CdtTrfTxInf')
  t.strictSame(termsOf(first!.block), { level: 'G001', instrument: 'OUR-WORD', bearer: 'SHAR' })
  t.strictSame(termsOf(second!.block), { level: 'SEPA', instrument: null, bearer: 'SLEV' })
  t.equal(textAt(first!.block, 'BtchBookg'), 'true')
})

t.test('every member that an order has is in the file', async (t) => {
  const address = {
    line1: 'Hauptstraße',
    line2: 'Hinterhaus',
    buildingNumber: '12a',
    city: 'Köln',
    postalCode: '50667',
    state: 'NRW',
    country: 'DE',
  }
  const xml = await transfers([
    order({
      rail: 'swift',
      currency: 'JPY',
      amount: 5_000n,
      uetr: 'eb6305c9-1f7f-49de-aed0-16487c27b42d',
      chargeBearer: 'recipient',
      purpose: { code: 'SALA' },
      categoryPurpose: 'SALA',
      debtor: {
        name: 'Norden Bank',
        address,
        id: { value: '5299000J2N45DDNE4Y28', scheme: 'LEI code', isPrivate: false },
      },
      debtorAccount: { number: '0001234567', scheme: 'BBAN' },
      debtorAgent: bank(null),
      ultimateDebtor: party('Real Payer'),
      intermediaryAgent: bank('CHASUS33'),
      creditor: { name: 'Jane <Doe> & Co', address, id: { value: 'P-77', scheme: 'CUST', isPrivate: true } },
      creditorAccount: { number: '9988776655', scheme: 'BGNR' },
      creditorAgent: {
        bic: 'BOTKJPJT',
        clearing: { system: 'JPZGN', member: '0005001' },
        name: 'Bank of Tokyo',
        country: 'JP',
      },
      ultimateCreditor: { ...party('Real Payee'), address },
      remittance: { unstructured: ['Invoice', '4711'], creditorReference: 'RF18539007547034' },
    }),
    order({
      rail: 'ch_sic',
      currency: 'CHF',
      purpose: { proprietary: 'RENT' },
      remittance: { unstructured: [], creditorReference: '210000000003139471430009017' },
    }),
  ])
  t.strictSame(pain001Errors(xml), [])
  const [first, second] = ordersIn(t, xml, 'CdtTrfTxInf')
  const { block, order: read } = first!
  t.equal(textAt(block, 'PmtTpInf/CtgyPurp/Cd'), 'SALA')
  t.equal(textAt(block, 'Dbtr/PstlAdr/StrtNm'), 'Hauptstrasse')
  t.equal(textAt(block, 'Dbtr/Id/OrgId/Othr/SchmeNm/Prtry'), 'LEI code')
  t.equal(textAt(block, 'DbtrAcct/Id/Othr/SchmeNm/Cd'), 'BBAN')
  t.equal(textAt(block, 'DbtrAgt/FinInstnId/Othr/Id'), 'NOTPROVIDED')
  t.equal(textAt(read, 'PmtId/UETR'), 'eb6305c9-1f7f-49de-aed0-16487c27b42d')
  t.equal(textAt(read, 'Amt/InstdAmt'), '5000', 'no decimals')
  t.equal(textAt(read, 'UltmtDbtr/Nm'), 'Real Payer')
  t.equal(textAt(read, 'IntrmyAgt1/FinInstnId/BICFI'), 'CHASUS33')
  t.equal(textAt(read, 'Cdtr/Nm'), 'Jane (Doe) + Co', 'in the characters of SWIFT')
  t.strictSame(
    ['StrtNm', 'BldgNb', 'PstCd', 'TwnNm', 'CtrySubDvsn', 'Ctry', 'AdrLine'].map((name) =>
      textAt(read, `Cdtr/PstlAdr/${name}`),
    ),
    ['Hauptstrasse', '12a', '50667', 'Koln', 'NRW', 'DE', 'Hinterhaus'],
  )
  t.equal(textAt(read, 'Cdtr/Id/PrvtId/Othr/Id'), 'P-77')
  t.equal(textAt(read, 'CdtrAcct/Id/Othr/SchmeNm/Prtry'), 'BGNR')
  t.equal(textAt(read, 'CdtrAgt/FinInstnId/Nm'), 'Bank of Tokyo')
  t.equal(textAt(read, 'UltmtCdtr/Nm'), 'Real Payee')
  t.equal(textAt(read, 'Purp/Cd'), 'SALA')
  t.equal(textAt(read, 'RmtInf/Ustrd'), 'Invoice 4711')
  t.equal(textAt(read, 'RmtInf/Strd/CdtrRefInf/Tp/CdOrPrtry/Cd'), 'SCOR')
  t.equal(textAt(read, 'RmtInf/Strd/CdtrRefInf/Tp/Issr'), 'ISO')
  t.equal(textAt(read, 'RmtInf/Strd/CdtrRefInf/Ref'), 'RF18539007547034')
  t.equal(textAt(second!.order, 'Purp/Prtry'), 'RENT')
  t.equal(textAt(second!.order, 'RmtInf/Strd/CdtrRefInf/Tp/CdOrPrtry/Prtry'), 'QRR')
})

t.test('names and texts have the characters of their rail', async (t) => {
  const written = async (rail: Rail, currency: CurrencyCode, name: string) => {
    const creditorAgent = bank('SBOXNL2A')
    const [read] = ordersIn(
      t,
      await transfers([order({ rail, currency, creditorAgent, creditor: party(name), endToEndId: null })]),
      'CdtTrfTxInf',
    )
    t.equal(
      textAt(read!.order, 'PmtId/EndToEndId'),
      REFERENCE.replaceAll('-', ''),
      'our reference where there is no other',
    )
    return textAt(read!.order, 'Cdtr/Nm')
  }
  t.equal(await written('sepa', 'EUR', 'Łukasz Żółć & Ærø ÿ'), 'Lukasz Zolc + AEro y')
  t.equal(await written('sepa', 'EUR', 'Γιώργος Παπαδόπουλος'), 'Giorgos Papadopoylos')
  t.equal(await written('sepa', 'EUR', 'Иван Щукин'), 'Ivan Shtukin')
  t.equal(await written('sepa', 'EUR', 'a//b\u0000_c  d\n€5'), 'a/b.-c d EUR5')
  t.equal(await written('pl_elixir', 'PLN', 'Żółć Ünal'), 'Żółć Unal')
  t.equal(await written('bacs', 'GBP', "Zoë O'Neill & Sons Limited"), 'ZOE O.NEILL & SONS')
  t.equal(await written('dk_domestic', 'DKK', 'Åsa Öberg'), 'Åsa Öberg')
})

t.test('an order that cannot be written is refused with the member at fault', (t) => {
  const faults: readonly (readonly [Partial<FileOrder>, string | null])[] = [
    [{}, null],
    [{ reference: 'PAY1' }, 'reference'],
    [{ amount: 0n }, 'amount'],
    [{ amount: 10n ** 18n }, 'amount'],
    [{ rail: 'internal' }, 'rail'],
    [{ rail: 'card' }, 'rail'],
    [{ currency: 'USD' }, 'currency'],
    [{ executionDate: '2026-02-30' }, 'executionDate'],
    [{ executionDate: '24.11.2026' }, 'executionDate'],
    [{ uetr: REFERENCE }, 'uetr'],
    [{ endToEndId: 'x'.repeat(36) }, 'endToEndId'],
    [{ purpose: { code: 'SALARY' } }, 'purpose'],
    [{ categoryPurpose: '!' }, 'categoryPurpose'],
    [{ creditor: party('') }, 'creditor.name'],
    [{ creditor: party('山田') }, 'creditor.name'],
    [{ creditor: { ...party('A'), id: { value: ' ', scheme: null, isPrivate: true } } }, 'creditor.id'],
    [{ creditorAccount: { iban: 'DE' } }, 'creditorAccount.iban'],
    [{ creditorAccount: { number: '12', scheme: null }, creditorAgent: bank('SBOXNL2A') }, 'creditorAccount'],
    [{ rail: 'swift', creditorAccount: { number: '12', scheme: null } }, 'creditorAgent'],
    [{ rail: 'swift', creditorAccount: { number: '1'.repeat(35), scheme: null } }, 'creditorAccount.number'],
    [{ creditorAgent: bank('SBOX') }, 'creditorAgent.bic'],
    [{ creditorAgent: { ...bank(null), clearing: { system: 'gb', member: '1' } } }, 'creditorAgent.clearing'],
    [{ remittance: { unstructured: ['x'.repeat(141)], creditorReference: null } }, 'remittance.unstructured'],
    [{ remittance: { unstructured: ['x'], creditorReference: 'RF18539007547034' } }, 'remittance'],
    [{ remittance: { unstructured: [], creditorReference: 'é' } }, 'remittance.creditorReference'],
  ]
  for (const [given, field] of faults) t.equal(orderFault(order(given))?.field ?? null, field, JSON.stringify(field))
  t.end()
})

t.test('a file is refused as a whole when it cannot be right', async (t) => {
  const refused = (text: RegExp) => (error: unknown) => error instanceof OrderFileError && text.test(error.message)
  const fails = async (run: Promise<unknown>, text: RegExp) => {
    const error = await run.then(
      () => null,
      (each: unknown) => each,
    )
    t.ok(refused(text)(error), `${text}: ${error}`)
  }
  await fails(transfers([]), /at least one order/)
  await fails(transfers([order(), order({ amount: -1n })]), new RegExp(`The order ${REFERENCE}: amount`))
  await fails(transfers([order()], { ...HEAD, messageId: 'a/' }), /messageId/)
  await fails(transfers([order()], { ...HEAD, messageId: 'x'.repeat(29) }), /messageId/)
  await fails(transfers([order()], { ...HEAD, initiator: party('') }), /initiator/)
  await fails(
    planCreditTransfers(HEAD, () => Array.from({ length: 100_001 }, () => order())),
    /at most 100000/,
  )
  await fails(transfers([order({ amount: 9n * 10n ** 17n }), order({ amount: 9n * 10n ** 17n })]), /18 digits/)

  const plan = await planCreditTransfers(HEAD, () => [order(), order({ rail: 'target2' })])
  const write = async (orders: readonly FileOrder[]) => {
    for await (const _ of writeCreditTransfers(plan, () => orders));
  }
  await write([order(), order({ rail: 'target2' })])
  await fails(write([order()]), /fewer orders/)
  await fails(write([]), /fewer orders/)
  await fails(write([order(), order({ rail: 'target2' }), order()]), /more orders/)
  await fails(write([order({ amount: 1n }), order({ rail: 'target2' })]), /amounts are not those/)
  const two = await planCreditTransfers(HEAD, () => [order(), order()])
  const other = writeCreditTransfers(two, () => [order(), order({ rail: 'target2' })])
  await fails(other.next(), /not those of the plan/)
})

// ── Direct debits
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

t.test('direct debits carry creditor, mandate, sequence and amendments', async (t) => {
  const amended = {
    mandateId: 'M-0000',
    creditorId: 'DE98ZZZ09999999999',
    creditorName: 'Fusion GmbH',
    debtorAccount: 'other_bank',
  } as const
  const xml = await debits([
    collection(),
    collection({
      amount: 1n,
      mandate: { id: 'M-2', signedOn: '2025-12-31', amendment: amended },
      debtorAgent: bank('COBADEFF'),
    }),
    collection({
      sequence: 'first',
      scheme: 'sepa_dd_b2b',
      mandate: {
        id: 'M-3',
        signedOn: '2025-12-31',
        amendment: { mandateId: null, creditorId: null, creditorName: null, debtorAccount: NL },
      },
    }),
    collection({
      scheme: 'bacs_dd',
      currency: 'GBP',
      creditorId: '123456',
      sequence: 'one_off',
      debtorAccount: { number: '31926819', scheme: null },
      debtorAgent: { ...bank(null), clearing: { system: 'GBDSC', member: '601613' } },
      ultimateDebtor: party('Someone'),
      ultimateCreditor: party('Another'),
      purpose: { code: 'SUBS' },
      endToEndId: 'sub-1',
    }),
  ])
  t.strictSame(pain008Errors(xml), [])
  const read = ordersIn(t, xml, 'DrctDbtTxInf')
  t.strictSame(
    read.map(({ block }) => [
      textAt(block, 'PmtTpInf/SvcLvl/Cd'),
      textAt(block, 'PmtTpInf/LclInstrm/Cd'),
      textAt(block, 'PmtTpInf/SeqTp'),
      textAt(block, 'ChrgBr'),
      textAt(block, 'CdtrSchmeId/Id/PrvtId/Othr/Id'),
      textAt(block, 'CdtrSchmeId/Id/PrvtId/Othr/SchmeNm/Prtry'),
    ]),
    [
      ['SEPA', 'CORE', 'RCUR', 'SLEV', 'NL99ZZZ123456780000', 'SEPA'],
      ['SEPA', 'CORE', 'RCUR', 'SLEV', 'NL99ZZZ123456780000', 'SEPA'],
      ['SEPA', 'B2B', 'FRST', 'SLEV', 'NL99ZZZ123456780000', 'SEPA'],
      ['NURG', null, 'OOFF', null, '123456', null],
    ],
  )
  const mandate = (at: number, path: string) => textAt(read[at]!.order, `DrctDbtTx/MndtRltdInf/${path}`)
  t.equal(read[0]!.block, read[1]!.block, 'the same terms are one block')
  t.equal(textAt(read[0]!.block, 'ReqdColltnDt'), '2026-11-30')
  t.equal(textAt(read[0]!.order, 'DbtrAgt/FinInstnId/Othr/Id'), 'NOTPROVIDED')
  t.equal(mandate(0, 'MndtId'), 'M-0001')
  t.equal(mandate(0, 'DtOfSgntr'), '2026-01-02')
  t.equal(mandate(0, 'AmdmntInd'), null)
  t.equal(mandate(1, 'AmdmntInd'), 'true')
  t.equal(mandate(1, 'AmdmntInfDtls/OrgnlMndtId'), 'M-0000')
  t.equal(mandate(1, 'AmdmntInfDtls/OrgnlCdtrSchmeId/Nm'), 'Fusion GmbH')
  t.equal(mandate(1, 'AmdmntInfDtls/OrgnlCdtrSchmeId/Id/PrvtId/Othr/Id'), 'DE98ZZZ09999999999')
  t.equal(mandate(1, 'AmdmntInfDtls/OrgnlDbtrAcct/Id/Othr/Id'), 'SMNDA')
  t.equal(mandate(2, 'AmdmntInfDtls/OrgnlDbtrAcct/Id/IBAN'), NL.iban)
  t.equal(textAt(read[1]!.order, 'InstdAmt'), '0.01')
  t.equal(textAt(read[3]!.order, 'PmtId/EndToEndId'), 'SUB-1', 'in the characters of Bacs')
})

t.test('a collection that cannot be written is refused with the member at fault', (t) => {
  const mandate = collection().mandate
  const none = { mandateId: null, creditorId: null, creditorName: null, debtorAccount: null }
  const faults: readonly (readonly [Partial<FileCollection>, string | null])[] = [
    [{}, null],
    [{ currency: 'GBP' }, 'currency'],
    [{ dueDate: '' }, 'dueDate'],
    [{ creditorId: '123456' }, 'creditorId'],
    [{ mandate: { ...mandate, id: 'Müller' } }, 'mandate.id'],
    [{ mandate: { ...mandate, signedOn: '2026-13-01' } }, 'mandate.signedOn'],
    [{ mandate: { ...mandate, amendment: none } }, 'mandate.amendment'],
    [{ mandate: { ...mandate, amendment: { ...none, creditorId: 'x' } } }, 'mandate.amendment.creditorId'],
    [{ mandate: { ...mandate, amendment: { ...none, creditorName: '山' } } }, 'mandate.amendment.creditor.name'],
    [
      { mandate: { ...mandate, amendment: { ...none, debtorAccount: { iban: '1' } } } },
      'mandate.amendment.debtorAccount.iban',
    ],
    [{ debtorAccount: { number: '1', scheme: null } }, 'debtorAccount'],
    [
      { scheme: 'ach_debit', currency: 'USD', creditorId: '1', debtorAccount: { number: '1', scheme: null } },
      'debtorAgent',
    ],
  ]
  for (const [given, field] of faults)
    t.equal(collectionFault(collection(given))?.field ?? null, field, JSON.stringify(field))
  t.end()
})

// ── Any orders
// ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const RAIL_CURRENCIES = [...RAILS.values()]
  .filter(({ rail }) => rail !== 'internal')
  .flatMap(({ rail, currency }): (readonly [Rail, CurrencyCode])[] =>
    currency === null
      ? (['USD', 'JPY', 'KWD', 'EUR', 'CLF'] as const).map((each) => [rail, each] as const)
      : [[rail, currency]],
  )
const name = fc.string({ unit: 'grapheme', maxLength: 60 }).map((text) => `N ${text}`)
const anyParty = fc.record({
  name,
  address: fc.option(
    fc.record({
      line1: fc.option(name),
      line2: fc.option(name),
      buildingNumber: fc.option(fc.string({ maxLength: 20 })),
      city: fc.option(name),
      postalCode: fc.option(fc.string({ maxLength: 20 })),
      state: fc.option(name),
      country: fc.option(fc.constantFrom('DE', 'JP')),
    }),
  ),
  id: fc.constant(null),
})
const digits = (min: number, max: number) => fc.stringMatching(new RegExp(`^[0-9]{${min},${max}}$`))
const iban = digits(18, 18).map((text) => ({ iban: `DE${text}` }))
const anyOrder: fc.Arbitrary<FileOrder> = fc
  .record({
    rail: fc.constantFrom(...RAIL_CURRENCIES),
    reference: fc.uuid({ version: 7 }),
    amount: fc.bigInt({ min: 1n, max: 10n ** 13n }),
    executionDate: fc.constantFrom('2026-11-24', '2026-11-25'),
    endToEndId: fc.option(fc.stringMatching(/^[A-Z0-9]{1,35}$/)),
    chargeBearer: fc.option(fc.constantFrom('shared', 'sender', 'recipient')),
    account: fc.oneof(
      iban,
      digits(1, 34).map((number) => ({ number, scheme: null })),
    ),
    creditor: anyParty,
    ultimateCreditor: fc.option(anyParty),
    text: fc.stringMatching(/^[A-Z0-9][A-Z0-9 ]{0,10}[A-Z0-9]$/),
    uetr: fc.option(fc.uuid({ version: 4 })),
  })
  .map(({ rail: [rail, currency], account, text, ...rest }) =>
    order({
      ...rest,
      rail,
      currency,
      creditorAccount: RAILS.get(rail)!.sepa ? DE : account,
      creditorAgent: bank('SBOXNL2A'),
      remittance: { unstructured: [text], creditorReference: null },
    }),
  )

t.test('what is written is read back as the same orders, to the cent', async (t) => {
  const blocks = new Set<number>()
  await fc.assert(
    fc.asyncProperty(fc.array(anyOrder, { minLength: 1, maxLength: 8 }), async (orders) => {
      const xml = await transfers(orders)
      t.strictSame(pain001Errors(xml), [])
      const read = ordersIn(t, xml, 'CdtTrfTxInf')
      blocks.add(new Set(read.map(({ block }) => block)).size)
      t.strictSame(
        read.map(({ block, order: each }) => {
          const currency = all(each, 'Amt/InstdAmt')[0]!.attributes['Ccy']!
          return {
            instruction: textAt(each, 'PmtId/InstrId'),
            endToEnd: textAt(each, 'PmtId/EndToEndId'),
            uetr: textAt(each, 'PmtId/UETR'),
            currency,
            amount: cents(textAt(each, 'Amt/InstdAmt')!, currency),
            day: textAt(block, 'ReqdExctnDt/Dt'),
            account: textAt(each, 'CdtrAcct/Id/IBAN') ?? textAt(each, 'CdtrAcct/Id/Othr/Id'),
            text: textAt(each, 'RmtInf/Ustrd'),
          }
        }),
        orders.map((each) => ({
          instruction: each.reference.replaceAll('-', ''),
          endToEnd: each.endToEndId ?? each.reference.replaceAll('-', ''),
          uetr: each.uetr,
          currency: each.currency,
          amount: each.amount,
          day: each.executionDate,
          account: 'iban' in each.creditorAccount ? each.creditorAccount.iban : each.creditorAccount.number,
          text: each.remittance.unstructured[0]!.replace(/ +/g, ' '),
        })),
      )
      for (const [at, { order: each }] of read.entries()) {
        const { reference, nameMax } = RAILS.get(orders[at]!.rail)!
        const carried = textAt(each, 'Cdtr/Nm')!
        t.ok(CHARACTERS[reference.characters].test(carried), carried)
        t.ok([...carried].length <= nameMax, carried)
      }
    }),
    { numRuns: 60, seed: 22 },
  )
  t.ok(blocks.size > 3, 'with one block and with several')
})

t.test('a hundred thousand orders are written piece by piece', async (t) => {
  const count = 100_000
  let open = 0
  const orders = function* () {
    for (let at = 0; at < count; at += 1) {
      open += 1
      yield order({ amount: BigInt(at + 1), executionDate: at < count / 2 ? '2026-11-24' : '2026-11-25' })
    }
  }
  const plan = await planCreditTransfers(HEAD, orders)
  t.strictSame(
    plan.blocks.map((block) => [block.first, block.count]),
    [
      [0, 50_000],
      [50_000, 50_000],
    ],
  )
  t.equal(plan.controlSum, '50000500.00')
  open = 0
  let longest = 0
  let ahead = 0
  let pieces = 0
  for await (const piece of writeCreditTransfers(plan, orders)) {
    longest = Math.max(longest, piece.byteLength)
    ahead = Math.max(ahead, open)
    open = 0
    pieces += 1
  }
  t.ok(pieces > 400, `${pieces} pieces`)
  t.ok(longest < 70_000, `the longest has ${longest} bytes`)
  t.ok(ahead < 300, `at most ${ahead} orders are taken for one piece`)
})
