import fc from 'fast-check'
import t from 'tap'
import { accountOf, CHART } from '../../../lib/ledger/chart.ts'
import type { AccountKey } from '../../../lib/ledger/chart.ts'
import { mayOverdraw, post, reversalOf, RULE_IDS, RULES } from '../../../lib/ledger/postings.ts'
import type { Amounts, CurrencySymbol, Expression, Letter, Line, Pair, RuleId } from '../../../lib/ledger/postings.ts'

const SYMBOLS: readonly CurrencySymbol[] = ['c', 's', 'b']
const CURRENCIES = { c: 'EUR', s: 'GBP', b: 'USD' }

/** A rule as it is posted: its own lines, or those of one variant in the currency the variant replaces. */
interface Case {
  readonly id: RuleId
  readonly variant: string | undefined
  readonly debit: readonly Line[]
  readonly credit: readonly Line[]
}

function casesOf(id: RuleId): Case[] {
  const rule = RULES[id]
  const plain: Case = { id, variant: undefined, debit: rule.debit, credit: rule.credit }
  const variants = Object.entries(rule.variants ?? {}).map(([name, variant]): Case => {
    const others = (lines: readonly Line[]) => lines.filter((line) => line.currency !== variant.currency)
    return {
      id,
      variant: name,
      debit: [...others(rule.debit), ...variant.debit],
      credit: [...others(rule.credit), ...variant.credit],
    }
  })
  return [plain, ...variants]
}

const CASES = RULE_IDS.flatMap(casesOf)

function symbolicSum(lines: readonly Line[], currency: CurrencySymbol): Map<string, number> {
  const total = new Map<string, number>()
  for (const line of lines) {
    if (line.currency !== currency) continue
    for (const [letter, count] of Object.entries(line.amount)) total.set(letter, (total.get(letter) ?? 0) + count)
  }
  return new Map([...total].filter(([, count]) => count !== 0).sort())
}

t.test('no rule is missing and none is unknown', (t) => {
  const ranges: readonly (readonly [number, number])[] = [
    [1, 17],
    [20, 21],
    [30, 36],
    [40, 45],
    [50, 54],
    [60, 61],
    [70, 74],
    [80, 81],
    [90, 97],
  ]
  const expected = ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => `L${(first + index).toString().padStart(2, '0')}`),
  )
  t.strictSame(RULE_IDS, expected)
  t.end()
})

t.test('every rule and every variant balances symbolically in every currency', (t) => {
  for (const { id, variant, debit, credit } of CASES) {
    for (const currency of SYMBOLS) {
      t.strictSame(symbolicSum(debit, currency), symbolicSum(credit, currency), `${id} ${variant ?? ''} ${currency}`)
    }
  }
  t.end()
})

t.test('every line names an account of the chart, and every customer line has a journal type', (t) => {
  const keys = new Set<AccountKey>(CHART.map((account) => account.key))
  for (const { id, debit, credit } of CASES) {
    for (const line of [...debit, ...credit]) {
      t.ok(keys.has(line.account), `${id} ${line.account}`)
      t.equal(line.type !== undefined, line.account === 'cust', `${id} ${line.account} type`)
    }
  }
  t.end()
})

t.test('two accounts of one key in a rule are told apart by role', (t) => {
  for (const { id, debit, credit } of CASES) {
    for (const line of debit) {
      const twin = credit.find((other) => other.account === line.account && other.currency === line.currency)
      // L52 passes its clearing account on both sides on purpose: the same account, so nothing to tell apart.
      if (twin === undefined || id === 'L52') continue
      t.notOk(line.role === undefined || line.role === twin.role, `${id} ${line.account}`)
    }
  }
  t.end()
})

t.test('rules that only move holds post nothing', (t) => {
  for (const id of ['L09', 'L70', 'L72'] as const) t.strictSame(post(id, {}, {}), [])
  t.end()
})

const shape = (pairs: readonly Pair[]) =>
  pairs.map(
    (p) =>
      `${p.debit}${p.debitRole ? `.${p.debitRole}` : ''} -> ${p.credit}${p.creditRole ? `.${p.creditRole}` : ''} ${p.currency} ${p.amount} ${p.debitType ?? '-'} ${p.creditType ?? '-'}`,
  )

const TABLE: readonly (readonly [RuleId, string | undefined, Amounts, readonly string[]])[] = [
  ['L01', undefined, { A: 500n }, ['nostro -> cust EUR 500 - incoming_payment']],
  [
    'L10',
    undefined,
    { A: 1000n, F: 121n, T: 21n },
    [
      'cust -> out_transit EUR 1000 outgoing_payment -',
      'cust -> inc_fee EUR 100 fee -',
      'cust -> fee_tax EUR 21 fee -',
    ],
  ],
  ['L10', undefined, { A: 1000n }, ['cust -> out_transit EUR 1000 outgoing_payment -']],
  [
    'L12',
    undefined,
    { A: 1000n, F: 121n, T: 21n },
    [
      'out_transit -> cust EUR 1000 - payment_return',
      'inc_fee -> cust EUR 100 - fee_refund',
      'fee_tax -> cust EUR 21 - fee_refund',
    ],
  ],
  [
    'L14',
    undefined,
    { F: 121n, T: 21n },
    ['inc_fee -> cust EUR 100 - fee_refund', 'fee_tax -> cust EUR 21 - fee_refund'],
  ],
  ['L17', undefined, { P: 9n }, ['exp_partner -> nostro EUR 9 - -', 'cust -> inc_fee EUR 9 fee -']],
  ['L20', undefined, { A: 7n }, ['cust.from -> cust.to EUR 7 transfer_out transfer_in']],
  ['L20', 'payment', { A: 7n }, ['cust.from -> cust.to EUR 7 outgoing_payment incoming_payment']],
  ['L21', undefined, { A: 7n }, ['nostro.to -> nostro.from EUR 7 - -']],
  ['L21', 'in_transit', { A: 7n }, ['out_transit.from -> out_transit.to EUR 7 - -']],
  ['L30', undefined, { S: 100n, F: 3n }, ['cust -> fx_clearing GBP 100 exchange_out -', 'cust -> inc_fee GBP 3 fee -']],
  ['L31', 'from_deposit', { Sp: 99n }, ['fx_clearing -> partner_deposit GBP 99 - -']],
  [
    'L34',
    undefined,
    { S: 100n, Sp: 99n, B: 120n, Bp: 121n },
    ['fx_clearing -> inc_fx GBP 1 - -', 'fx_clearing -> inc_fx USD 1 - -'],
  ],
  [
    'L34',
    undefined,
    { S: 100n, Sp: 103n, B: 120n, Bp: 121n },
    ['exp_fx -> fx_clearing GBP 3 - -', 'fx_clearing -> inc_fx USD 1 - -'],
  ],
  [
    'L34',
    undefined,
    { S: 100n, Sp: 103n, B: 120n, Bp: 118n },
    ['exp_fx -> fx_clearing GBP 3 - -', 'exp_fx -> fx_clearing USD 2 - -'],
  ],
  ['L34', undefined, { S: 100n, Sp: 100n, B: 120n, Bp: 120n }, []],
  ['L36', undefined, { S: 100n, B: 120n }, ['fx_clearing -> house GBP 100 - -', 'house -> fx_clearing USD 120 - -']],
  ['L40', undefined, { D: 50n }, ['cust -> fx_deposit EUR 50 forward_deposit -']],
  [
    'L43',
    undefined,
    { D: 50n, S: 80n },
    ['fx_deposit -> fx_clearing GBP 50 - -', 'cust -> fx_clearing GBP 30 exchange_out -'],
  ],
  ['L44', undefined, { D: 50n, P: 80n }, ['fx_deposit -> nostro EUR 50 - -', 'cust -> nostro EUR 30 adjustment -']],
  ['L44', undefined, { D: 50n, P: 50n }, ['fx_deposit -> nostro EUR 50 - -']],
  ['L44', undefined, { D: 50n, P: 20n }, ['fx_deposit -> nostro EUR 20 - -']],
  [
    'L45',
    undefined,
    { D: 50n, P: 20n },
    ['nostro -> cust EUR 20 - adjustment', 'fx_deposit -> cust EUR 50 - forward_deposit_release'],
  ],
  [
    'L52',
    undefined,
    { C: 10n },
    ['cust -> dd_clearing EUR 10 collection_return -', 'dd_clearing -> nostro EUR 10 - -'],
  ],
  [
    'L71',
    'withdrawal',
    { S: 100n, F: 2n },
    ['cust -> card_payable EUR 100 card_withdrawal -', 'cust -> inc_fee EUR 2 fee -'],
  ],
  [
    'L71',
    undefined,
    { S: 100n, F: 12n, T: 2n },
    ['cust -> card_payable EUR 100 card_payment -', 'cust -> inc_fee EUR 10 fee -', 'cust -> fee_tax EUR 2 fee -'],
  ],
  [
    'L71',
    'withdrawal',
    { S: 100n, F: 12n, T: 2n },
    ['cust -> card_payable EUR 100 card_withdrawal -', 'cust -> inc_fee EUR 10 fee -', 'cust -> fee_tax EUR 2 fee -'],
  ],
  [
    'L20',
    'payment',
    { A: 7n, F: 12n, T: 2n },
    [
      'cust.from -> cust.to EUR 7 outgoing_payment incoming_payment',
      'cust.from -> inc_fee EUR 10 fee -',
      'cust.from -> fee_tax EUR 2 fee -',
    ],
  ],
  [
    'L71',
    'converted',
    { S: 100n, F: 12n, T: 2n, M: 6n },
    [
      'cust -> card_payable EUR 100 card_payment -',
      'cust -> inc_fee EUR 4 fee -',
      'cust -> inc_fx EUR 6 fee -',
      'cust -> fee_tax EUR 2 fee -',
    ],
  ],
  [
    'L71',
    'converted_withdrawal',
    { S: 100n, F: 3n, M: 3n },
    ['cust -> card_payable EUR 100 card_withdrawal -', 'cust -> inc_fx EUR 3 fee -'],
  ],
  ['L74', 'scheme_pays', { A: 5n }, ['nostro -> card_payable EUR 5 - -']],
  ['L90', 'against_customer', { A: 5n }, ['cust -> exp_loss EUR 5 adjustment -']],
  ['L93', 'explained_as_charge', { A: 5n }, ['exp_partner -> nostro_suspense EUR 5 - -']],
  [
    'L95',
    undefined,
    { A: 10n, B: 5n, P: 8n },
    ['inc_fee -> exp_partner EUR 8 - -', 'inc_fee -> house EUR 2 - -', 'inc_fx -> house EUR 5 - -'],
  ],
  [
    'L95',
    undefined,
    { A: 10n, B: 5n, P: 18n },
    ['inc_fee -> exp_partner EUR 10 - -', 'inc_fx -> exp_partner EUR 5 - -', 'house -> exp_partner EUR 3 - -'],
  ],
]

t.test('rules become pairs in their own order, without zeros', (t) => {
  for (const [rule, variant, amounts, expected] of TABLE) {
    t.strictSame(shape(post(rule, amounts, CURRENCIES, variant)), expected, `${rule} ${variant ?? ''}`)
  }
  t.end()
})

const LETTERS: readonly Letter[] = ['A', 'F', 'T', 'R', 'S', 'B', 'Sp', 'Bp', 'D', 'P', 'C', 'M']
const worth = (amount: Expression, amounts: Amounts) =>
  Object.entries(amount).reduce((total, [letter, count]) => total + BigInt(count) * amounts[letter as Letter]!, 0n)

type Net = Map<string, bigint>
function add(net: Net, key: string, amount: bigint): void {
  const total = (net.get(key) ?? 0n) + amount
  if (total === 0n) net.delete(key)
  else net.set(key, total)
}

t.test('whatever the amounts, pairs are positive and net per account what the rule says', (t) => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 15n })
  const amountsOf = fc.record(
    Object.fromEntries(LETTERS.map((letter) => [letter, amount])) as Record<Letter, typeof amount>,
  )
  fc.assert(
    fc.property(fc.constantFrom(...CASES), amountsOf, (each, drawn) => {
      // Tax and markup lie within the fee and a last drawdown above its deposit; everything else may be anything.
      const amounts = { ...drawn, F: drawn.F + drawn.T + drawn.M, S: each.id === 'L43' ? drawn.S + drawn.D : drawn.S }
      const rule = RULES[each.id]
      const applies = ([, variant]: readonly [string, { readonly when?: Expression }]) =>
        variant.when !== undefined && worth(variant.when, amounts) > 0n
      const named = each.variant === undefined ? undefined : rule.variants![each.variant]!
      // Variants decided by the amounts are left to the amounts: naming one by hand would be the contradiction post
      // refuses.
      const variant = named?.when === undefined ? each.variant : undefined
      let debit = named?.when === undefined ? each.debit : rule.debit
      let credit = named?.when === undefined ? each.credit : rule.credit
      for (const [, instead] of Object.entries(rule.variants ?? {}).filter(applies)) {
        if (variant !== undefined && instead.currency === named?.currency) continue
        debit = [...debit.filter((line) => line.currency !== instead.currency), ...instead.debit]
        credit = [...credit.filter((line) => line.currency !== instead.currency), ...instead.credit]
      }
      const expected: Net = new Map()
      const key = (account: string, role: string | null | undefined, currency: string) =>
        `${account} ${role ?? ''} ${currency}`
      for (const line of debit) add(expected, key(line.account, line.role, line.currency), worth(line.amount, amounts))
      for (const line of credit)
        add(expected, key(line.account, line.role, line.currency), -worth(line.amount, amounts))
      const actual: Net = new Map()
      for (const pair of post(each.id, amounts, CURRENCIES, variant)) {
        if (pair.amount <= 0n) return false
        add(actual, key(pair.debit, pair.debitRole, pair.symbol), pair.amount)
        add(actual, key(pair.credit, pair.creditRole, pair.symbol), -pair.amount)
      }
      t.strictSame([...actual].sort(), [...expected].sort())
      return true
    }),
    { numRuns: 2000 },
  )
  t.end()
})

t.test('a rule given nonsense throws instead of posting it', (t) => {
  t.throws(() => post('L01', {}, CURRENCIES), /needs the amount A/)
  t.throws(() => post('L01', { A: -1n }, CURRENCIES), /never negative/)
  t.throws(() => post('L01', { A: 1n }, {}), /needs the currency c/)
  t.throws(() => post('L10', { A: 1n, F: 1n, T: 2n }, CURRENCIES), /inc_fee would be -1/)
  t.throws(() => post('L01', { A: 1n }, CURRENCIES, 'sideways'), /no variant sideways/)
  t.end()
})

t.test('a reversing rule posts the mirror of the rule it reverses', (t) => {
  const amounts = { A: 1000n, F: 121n, T: 21n, S: 500n }
  for (const id of RULE_IDS) {
    const reversed = RULES[id].reverses
    if (reversed === undefined) continue
    const sides = (pairs: readonly Pair[]) => pairs.map((pair) => [pair.debit, pair.credit, pair.currency, pair.amount])
    t.strictSame(sides(post(id, amounts, CURRENCIES)), sides(reversalOf(post(reversed, amounts, CURRENCIES))), id)
  }
  t.end()
})

t.test('only the named rules may take a customer below zero', (t) => {
  t.strictSame(
    RULE_IDS.filter((id) => mayOverdraw(id)),
    ['L15', 'L17', 'L44', 'L52', 'L53', 'L71'],
  )
  t.notOk(mayOverdraw('L90'))
  t.ok(mayOverdraw('L90', 'against_customer'))
  t.ok(mayOverdraw('L90', 'reversed'))
  t.end()
})

t.test('assets and expenses grow by debit, all else by credit', (t) => {
  t.equal(accountOf('nostro').normalSide, 'debit')
  t.equal(accountOf('exp_fx').normalSide, 'debit')
  t.equal(accountOf('cust').normalSide, 'credit')
  t.equal(accountOf('house').normalSide, 'credit')
  t.equal(accountOf('inc_fee').normalSide, 'credit')
  t.strictSame(
    CHART.map((account) => account.code),
    CHART.map((account) => account.code).toSorted((a, b) => a - b),
  )
  t.equal(CHART.length, 19)
  t.end()
})
