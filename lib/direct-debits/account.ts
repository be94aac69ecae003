/** The account of a counterparty, apart from its other members, and the check of what a client asks for in a mandate. Pure. */
import { refuseField } from '../base/problems.ts'
import { completeAddress } from '../contract/address.ts'
import type { MandateScheme } from '../rails/debit-schemes.ts'
import { abaValid } from '../recipients/check-digits.ts'
import { bicValid, ibanFault } from '../recipients/iban.ts'
import type { CounterpartyAccount, MandateCounterparty, MandateDirection } from './mandate.ts'
import type { MandateCreate } from './mandate-schema.ts'
import { ACCOUNT_FIELDS, DEBIT_SCHEMES, type DebtorAccountField } from './schemes.ts'

const LABELS: Readonly<Record<DebtorAccountField, string>> = {
  iban: 'IBAN',
  bic: 'BIC',
  sortCode: 'Sort code',
  accountNumber: 'Account number',
  routingNumber: 'Routing number',
  accountType: 'Account type',
  bsb: 'BSB',
  institutionNumber: 'Institution number',
  transitNumber: 'Transit number',
}

/** Returns the members of a counterparty that name its account. */
export function accountOf(counterparty: MandateCounterparty): CounterpartyAccount {
  return Object.fromEntries(
    ACCOUNT_FIELDS.flatMap((field) => {
      const value = counterparty[field]
      return value === undefined ? [] : [[field, value]]
    }),
  )
}

/** Returns the account as labelled lines, for people. */
export function accountLines(account: CounterpartyAccount): readonly (readonly [label: string, value: string])[] {
  return ACCOUNT_FIELDS.flatMap((field) => {
    const value = account[field]
    return value === undefined ? [] : [[LABELS[field], value] as const]
  })
}

/** The form of each field of an account, without spaces and dashes. */
const FORMS: Readonly<Record<DebtorAccountField, { readonly is: (value: string) => boolean; readonly words: string }>> =
  {
    iban: { is: (value) => ibanFault(value) === null, words: 'Is not an IBAN, or its check digits do not agree.' },
    bic: { is: bicValid, words: 'Is not a BIC.' },
    sortCode: { is: (value) => /^[0-9]{6}$/.test(value), words: 'Has six digits.' },
    accountNumber: { is: (value) => /^[0-9A-Z]{3,17}$/.test(value), words: 'Has 3 to 17 digits.' },
    routingNumber: { is: abaValid, words: 'Is not a routing number, or its check digit does not agree.' },
    accountType: { is: (value) => value === 'checking' || value === 'savings', words: 'Is `checking` or `savings`.' },
    bsb: { is: (value) => /^[0-9]{6}$/.test(value), words: 'Has six digits.' },
    institutionNumber: { is: (value) => /^[0-9]{3}$/.test(value), words: 'Has three digits.' },
    transitNumber: { is: (value) => /^[0-9]{5}$/.test(value), words: 'Has five digits.' },
  }

const LOWER_CASE: ReadonlySet<DebtorAccountField> = new Set(['accountType'])

/**
 * Returns the counterparty of a mandate in its stored form.
 *
 * @throws ProblemError `validation-error` naming the field that is missing, wrong, or none of the scheme
 */
export function counterpartyOf({
  direction,
  scheme,
  counterparty,
}: Pick<MandateCreate, 'direction' | 'scheme' | 'counterparty'>): MandateCounterparty {
  const { name, kind, creditorId, address, email } = counterparty
  if (direction === 'pay' && (creditorId ?? '') === '')
    refuseField('/counterparty/creditorId', 'required', 'The creditor that collects needs its identifier.')
  if (direction === 'collect' && (creditorId ?? '') !== '')
    refuseField('/counterparty/creditorId', 'not_applicable', 'The counterparty is the payer, not the creditor.')
  if (direction === 'pay' && (email ?? '') !== '')
    refuseField('/counterparty/email', 'not_applicable', 'The counterparty collects, and is told of nothing.')
  return {
    name,
    kind: kind ?? (scheme === 'sepa_dd_b2b' ? 'business' : 'consumer'),
    ...accountFor(direction, scheme, counterparty),
    ...(creditorId === undefined || creditorId === null || creditorId === '' ? {} : { creditorId }),
    ...(email === undefined || email === null ? {} : { email }),
    ...(address === undefined || address === null ? {} : { address: completeAddress(address) }),
  }
}

function accountFor(
  direction: MandateDirection,
  scheme: MandateScheme,
  counterparty: MandateCreate['counterparty'],
): CounterpartyAccount {
  const { required, optional } = DEBIT_SCHEMES[scheme].account
  const account: { [Field in DebtorAccountField]?: string } = {}
  for (const field of ACCOUNT_FIELDS) {
    const given = counterparty[field] ?? null
    const path = `/counterparty/${field}`
    if (given === null) {
      if (direction === 'collect' && required.includes(field))
        refuseField(path, 'required', `An account of ${DEBIT_SCHEMES[scheme].name} has it.`)
      continue
    }
    if (!required.includes(field) && !optional.includes(field))
      refuseField(path, 'not_applicable', `An account of ${DEBIT_SCHEMES[scheme].name} has none.`)
    const compact = given.replaceAll(/[\s-]/g, '')
    const value = LOWER_CASE.has(field) ? compact : compact.toUpperCase()
    if (!FORMS[field].is(value)) refuseField(path, 'invalid_format', FORMS[field].words)
    account[field] = value
  }
  return account
}

const GENERATED = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Makes the reference of a mandate: `WB` and 14 letters and digits, of random bytes. */
export function generatedReference(bytes: Uint8Array): string {
  return `WB${Array.from(bytes.subarray(0, 14), (byte) => GENERATED[byte % GENERATED.length]).join('')}`
}

/** Returns the reference of a mandate. @throws ProblemError `validation-error` for one that its scheme does not take */
export function referenceOfMandate(scheme: MandateScheme, asked: string | null, random: () => Uint8Array): string {
  if (asked === null || asked === '') return generatedReference(random())
  const { pattern, words } = DEBIT_SCHEMES[scheme].reference
  if (!pattern.test(asked)) refuseField('/reference', 'invalid_characters', `Has ${words}.`)
  return asked
}
