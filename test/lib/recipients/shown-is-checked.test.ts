/**
 * What the requirements say is what the creation of recipients and payments takes: checked for every currency and every
 * country, with bodies made of nothing but what the requirements show.
 */
import t from 'tap'
import { CURRENCIES as ALL_CURRENCIES, WITHDRAWN_CURRENCIES } from '../../../lib/base/currency.ts'
import type { BankField } from '../../../lib/rails/bank-field.ts'
import { chooseRail } from '../../../lib/rails/choose-rail.ts'
import { RAILS, type RailTerms } from '../../../lib/rails/rails.ts'
import { checkReference } from '../../../lib/rails/reference.ts'
import type { BankMember } from '../../../lib/recipients/bank-checks.ts'
import { isCountry } from '../../../lib/recipients/iban.ts'
import { bankFields } from '../../../lib/recipients/markets.ts'
import { paymentFieldFault } from '../../../lib/recipients/payment-fields.ts'
import { requirementsOf, type RequirementField, type Requirements } from '../../../lib/recipients/requirements.ts'
import { validateRecipient, type RecipientInput } from '../../../lib/recipients/validation.ts'
import { loadUkModulusTable } from '../../../storage/recipients/uk-modulus-files.ts'

const world = { ukModulus: await loadUkModulusTable(null), sandbox: true }

const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const COUNTRIES = LETTERS.flatMap((first) => LETTERS.map((second) => first + second)).filter(isCountry)
const CURRENCIES = ALL_CURRENCIES.map(({ code }) => code).filter((code) => WITHDRAWN_CURRENCIES[code] === undefined)

const MEMBERS: readonly BankMember[] = [
  'iban',
  'bic',
  'accountNumber',
  'accountType',
  'sortCode',
  'routingNumber',
  'bsb',
  'institutionNumber',
  'transitNumber',
  'bankCode',
  'branchCode',
  'clearingNumber',
  'ifsc',
  'clabe',
  'bankgiro',
  'fpsId',
  'secondaryReference',
  'intermediaryBic',
]

type Body = Readonly<Record<string, string>>

/** Makes a recipient of fields by their pointers. */
function recipientOf(shown: Requirements, body: Body): RecipientInput {
  const under = (prefix: string) =>
    Object.fromEntries(
      Object.entries(body).flatMap(([name, value]) =>
        name.startsWith(prefix) ? [[name.slice(prefix.length), value]] : [],
      ),
    )
  const address = under('/address/')
  return {
    name: body['/name'] ?? '',
    type: 'business',
    currency: shown.currency,
    address: Object.keys(address).length === 0 ? null : (address as unknown as RecipientInput['address']),
    bank: under('/bank/'),
    purpose: body['/purpose'] ?? null,
  }
}

const exampleOf = (shown: Requirements, names: readonly string[]): Body =>
  Object.fromEntries(
    shown.fields
      .filter(({ name }) => names.some((wanted) => name === wanted || name.startsWith(`${wanted}/`)))
      .map(({ name, example }) => [name, example]),
  )
const ALWAYS = ['/name', '/type', '/currency', '/bank/bankCountry']

/** The codes of a recipient's faults by field; empty when it is taken. */
function faults(shown: Requirements, body: Body): Readonly<Record<string, string>> {
  const found = validateRecipient(world, recipientOf(shown, body))
  return 'errors' in found ? Object.fromEntries(found.errors.map(({ field, code }) => [field, code])) : {}
}

/** Values that a field does not take by what it shows, with the code of the fault. */
function wrongValues({ minLength, maxLength, pattern, options, example }: RequirementField) {
  if (options !== undefined) return [['nothing', 'invalid_value']] as const
  const values: (readonly [string, string])[] = []
  if (minLength !== undefined && minLength > 1) values.push([example.slice(0, minLength - 1), 'too_short'])
  if (maxLength !== undefined) values.push([example.padEnd(maxLength + 1, '1'), 'too_long'])
  if (pattern !== undefined && !new RegExp(pattern).test(`*${example.slice(1)}`))
    values.push([`*${example.slice(1)}`, 'invalid_format'])
  return values
}

/** The requirements that were checked in full, without their currency: most currencies have the same in a country. */
const checked = new Set<string>()

/** Returns what disagrees between the requirements of a market and the creation of a recipient in it. */
function recipientDisagreements(shown: Requirements): string[] {
  const wrong: string[] = []
  const seen = new Set<string>()
  const like = JSON.stringify([
    shown.country,
    shown.rails.map(({ rail }) => rail),
    shown.fields.map(({ name }) => name),
  ])
  const isChecked = checked.has(like)
  checked.add(like)
  for (const { rail, alternatives } of shown.rails) {
    if (alternatives.length === 0) wrong.push(`${rail} has no way`)
    for (const way of alternatives) {
      const body = exampleOf(shown, [...ALWAYS, ...way])
      if (Object.keys(faults(shown, body)).length > 0)
        wrong.push(`${rail} ${way.join(' ')}: ${JSON.stringify(faults(shown, body))}`)
      const kept = bankFields(
        shown.currency,
        shown.country,
        Object.keys(body).flatMap((name) => (name.startsWith('/bank/') ? [name.slice('/bank/'.length)] : [])),
        way.includes('/address'),
      )
      const row = RAILS.get(rail) as RailTerms
      const choice = chooseRail({
        currency: shown.currency as never,
        amountMinor: row.minMinor * row.multipleMinor,
        bankCountry: shown.country,
        fields: kept,
        requested: rail,
      })
      if (!('rail' in choice)) wrong.push(`${rail} ${way.join(' ')}: no payment, ${JSON.stringify(choice)}`)
      const key = way.join(' ')
      if (isChecked || seen.has(key)) continue
      seen.add(key)
      for (const missing of way) {
        const rest = Object.fromEntries(
          Object.entries(body).filter(([name]) => name !== missing && !name.startsWith(`${missing}/`)),
        )
        const isEnough = shown.rails.some((other) =>
          other.alternatives.some((fields) => fields.every((field) => way.includes(field) && field !== missing)),
        )
        const codes = Object.values(faults(shown, rest))
        if (isEnough ? codes.length > 0 : !codes.includes('required'))
          wrong.push(`${rail} without ${missing}: ${codes.join(' ')}`)
      }
      for (const field of shown.fields.filter(({ name }) => name in body && name.startsWith('/bank/')))
        for (const [value, code] of field.name.endsWith('bankCountry') ? [] : wrongValues(field)) {
          const found = faults(shown, { ...body, [field.name]: value })[field.name]
          if (found !== code) wrong.push(`${field.name} ${value}: ${found}, not ${code}`)
        }
    }
  }
  if (isChecked) return wrong
  const body = exampleOf(shown, [...ALWAYS, ...(shown.rails[0]?.alternatives[0] ?? [])])
  const known = new Set(shown.fields.map(({ name }) => name))
  for (const member of MEMBERS) {
    const name = `/bank/${member}`
    const isTaken = faults(shown, { ...body, [name]: '1' })[name] !== 'not_applicable'
    if (isTaken !== known.has(name)) wrong.push(`${name} is ${isTaken ? 'taken' : 'shown'} only`)
  }
  return wrong
}

/** Returns what disagrees between the requirements of a market and the creation of payments in it. */
function paymentDisagreements(shown: Requirements): string[] {
  const wrong: string[] = []
  const like = JSON.stringify([shown.country, shown.rails.map(({ rail }) => rail), shown.paymentFields])
  if (checked.has(like)) return wrong
  checked.add(like)
  for (const { rail, alternatives, referenceRule } of shown.rails) {
    const row = RAILS.get(rail) as RailTerms
    const way = alternatives[0] ?? []
    const bank = exampleOf(shown, way)
    const account = {
      bankCountry: shown.country,
      iban: bank['/bank/iban'] ?? null,
      fields: new Set(way.map((name) => name.replace('/bank/', '') as BankField)),
    }
    const fields = shown.paymentFields.filter(({ rails }) => rails.includes(rail))
    const faultOf = (values: Body) => {
      const reference = values['/reference'] ?? 'INVOICE 42'
      const longest = checkReference(rail, reference)
      if (longest !== null) return `/reference ${longest.code}`
      const fault = paymentFieldFault(account, row, {
        reference,
        purposeCode: values['/purposeCode'] ?? null,
        endToEndId: values['/endToEndId'],
        metadata: Object.fromEntries(
          Object.entries(values).flatMap(([name, value]) =>
            name.startsWith('/metadata/') ? [[name.slice('/metadata/'.length), value]] : [],
          ),
        ),
      })
      return fault === null ? null : `${fault.field} ${fault.code}`
    }
    const required = Object.fromEntries(
      fields.filter((field) => field.required).map(({ name, example }) => [name, example]),
    )
    if (faultOf(required) !== null) wrong.push(`${rail}: ${faultOf(required)}`)
    for (const { name, example, pattern, minLength, maxLength, checks, requiredWhen } of fields) {
      if (!new RegExp(pattern!).test(example)) wrong.push(`${name}: ${example} is not ${pattern}`)
      if (example.length < minLength! || example.length > maxLength!) wrong.push(`${name}: length of ${example}`)
      // A reference of the shown form is free text on a rail that cannot carry it.
      if (name === '/reference' && (example.length > referenceRule.maxLength || requiredWhen !== undefined)) continue
      if (faultOf({ ...required, [name]: example }) !== null)
        wrong.push(`${rail} ${name} ${example}: ${faultOf({ ...required, [name]: example })}`)
      const broken = `\u0007${example.slice(1)}`
      if (name !== '/reference' && faultOf({ ...required, [name]: broken })?.startsWith(`${name} `) !== true)
        wrong.push(`${rail} ${name} takes ${JSON.stringify(broken)}`)
      const digit = example.at(-1) === '1' ? '2' : '1'
      const unchecked = example.slice(0, -1) + digit
      const isForAccount = !checks.includes('luhn') || way.includes('/bank/bankgiro')
      if (
        name === '/reference' &&
        checks.length > 0 &&
        isForAccount &&
        faultOf({ ...required, [name]: unchecked }) !== '/reference invalid_checksum'
      )
        wrong.push(`${rail} takes the reference ${unchecked}`)
    }
    for (const { name } of fields.filter((field) => field.required)) {
      const { [name]: _without, ...rest } = required
      if (faultOf(rest) !== `${name} required`) wrong.push(`${rail} without ${name}: ${faultOf(rest)}`)
    }
  }
  return wrong
}

t.test('what is shown is what is checked, in every currency and country', async (t) => {
  let markets = 0
  for (const currency of CURRENCIES) {
    const wrong: string[] = []
    for (const country of COUNTRIES) {
      const shown = requirementsOf({ currency, country, type: null })
      markets += 1
      wrong.push(
        ...[...recipientDisagreements(shown), ...paymentDisagreements(shown)].map((each) => `${country}: ${each}`),
      )
    }
    t.strictSame(wrong.slice(0, 10), [], currency)
  }
  t.ok(markets > 30_000, `${markets} markets`)
})

t.test('every rail is listed where it reaches, and SWIFT everywhere', async (t) => {
  const listed = new Set<string>()
  for (const currency of CURRENCIES)
    for (const country of COUNTRIES) {
      const rails = requirementsOf({ currency, country, type: null }).rails.map(({ rail }) => rail)
      if (rails.at(-1) !== 'swift') t.fail(`${currency} ${country}: ${rails}`)
      for (const rail of rails) listed.add(rail)
    }
  t.strictSame(
    [...RAILS.values()].filter(({ rail }) => !listed.has(rail)).map(({ rail }) => rail),
    ['internal', 'bg_bisera'],
  )
})
