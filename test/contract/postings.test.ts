/** The ledger of the contract against the chart and the posting rules of the product, in both directions. */
import t from 'tap'
import { CHART } from '../../lib/ledger/chart.ts'
import { type Line, mayOverdraw, type Rule, RULE_IDS, RULES, type RuleId } from '../../lib/ledger/postings.ts'
import {
  CONTRACT_CHART,
  CONTRACT_OVERDRAWING,
  CONTRACT_POSTINGS,
  type ContractLine,
  type ContractPosting,
} from './data/postings.ts'
import { onlyKnown } from './known.ts'
import { sourcesOf } from './sources.ts'

t.test('the chart of accounts is that of the contract', (t) => {
  t.strictSame(
    CHART.map(({ code, key, class: of, per }) => ({ code: `${code}`, key, class: of, per })),
    CONTRACT_CHART,
  )
  t.end()
})

/** A line of a rule in the words of the contract. */
const lineOf = ({ account, currency, amount }: Line): ContractLine => ({
  account,
  currency,
  amount: Object.entries(amount)
    .map(([letter, sign]) => `${sign === 1 ? '+' : '-'}${letter}`)
    .sort(),
})

/** The rules of the product, each case as a row of its own. */
const rowsOf = (rule: RuleId): readonly ContractPosting[] => {
  const { debit, credit, variants = {} }: Rule = RULES[rule]
  return [
    { variant: '', debit, credit },
    ...Object.entries(variants).map(([variant, lines]) => ({ variant, ...lines })),
  ].map((row) => ({ rule, variant: row.variant, debit: row.debit.map(lineOf), credit: row.credit.map(lineOf) }))
}

const sorted = (rows: readonly ContractPosting[]) =>
  [...rows].sort((one, other) => `${one.rule} ${one.variant}`.localeCompare(`${other.rule} ${other.variant}`))

t.test('each rule and each case of it debits and credits what the contract says', (t) => {
  const product = sorted(RULE_IDS.flatMap(rowsOf))
  const contract = sorted(CONTRACT_POSTINGS)
  const name = ({ rule, variant }: ContractPosting) => `${rule} ${variant}`
  t.strictSame(product.map(name), contract.map(name), 'the same rules and cases')
  for (const [nth, row] of contract.entries()) t.strictSame(product[nth], row, name(row))
  t.comment(`${contract.length} rules and cases`)
  t.end()
})

t.test('only the rules of the contract may take a balance below zero', (t) => {
  t.strictSame(
    RULE_IDS.filter((rule) => mayOverdraw(rule)),
    CONTRACT_OVERDRAWING,
  )
  t.strictSame(mayOverdraw('L90', 'against_customer'), true, 'a correction against the customer may')
  t.end()
})

t.test('each rule is posted by something', async (t) => {
  const sources = (await sourcesOf(['lib', 'actors', 'storage'])).filter(
    ({ path }) =>
      path !== 'lib/ledger/postings.ts' &&
      !/^(?:storage\/(?:audit|migrations|replay|journal|transactions|balances)\/|lib\/ledger\/journal)/.test(path),
  )
  const holdsOnly = RULE_IDS.filter((rule) => RULES[rule].debit.length === 0)
  t.strictSame(holdsOnly, ['L09', 'L70', 'L72'], 'these move holds alone')
  onlyKnown(
    t,
    'postings',
    RULE_IDS.filter((rule) => !holdsOnly.includes(rule) && !sources.some(({ text }) => text.includes(`'${rule}'`))).map(
      (rule) => `${rule} is never posted`,
    ),
  )
  t.end()
})
