/**
 * What a case needs, as tables: each row is a field, a statement or a document, the types of customers that need it, and
 * the country, capability or risk that asks for it. Pure.
 */
import type { CustomerType } from '../customers/types.ts'
import type { CustomerCapability } from './case-words.ts'
import type { CaseCustomer, KybCaseRecord } from './kyb-case.ts'
import type { KybSteps } from './kyb-case-schema.ts'
import type { KybDocumentType } from './kyb-document.ts'

/** The facts that decide which rows apply. */
export interface RuleFacts {
  readonly record: KybCaseRecord
  readonly customer: CaseCustomer
}

interface Rule {
  readonly step: keyof KybSteps
  readonly types: readonly CustomerType[]
  /** The row applies to cases that meet this; absent: to all of these types. */
  readonly when?: (facts: RuleFacts) => boolean
}

export interface FieldRule extends Rule {
  readonly pointer: string
}

export interface DocumentRule extends Rule {
  readonly type: KybDocumentType
}

const BUSINESS = ['business'] as const
const PEOPLE = ['sole_trader', 'individual'] as const
const ALL = [...BUSINESS, ...PEOPLE] as const

/** Countries whose register gives extracts that stand in place of a certificate of incorporation. */
const EXTRACT_COUNTRIES: ReadonlySet<string> = new Set(
  'AT BE CH CZ DE DK EE ES FI FR IT LI LT LU LV NL NO PL PT SE SI SK'.split(' '),
)
/** Countries that ask banks for the tax number of every customer. */
const TAX_COUNTRIES: ReadonlySet<string> = new Set(['US'])

const countryOf = ({ record }: RuleFacts): string | null =>
  record.company.incorporationCountry ?? record.personal?.countryOfResidence ?? null
const inCountries =
  (countries: ReadonlySet<string>) =>
  (facts: RuleFacts): boolean =>
    countries.has(countryOf(facts) ?? '')
const requests =
  (...capabilities: readonly CustomerCapability[]) =>
  ({ record }: RuleFacts): boolean =>
    capabilities.some((capability) => record.capabilities.includes(capability))
const isHighRisk = ({ customer }: RuleFacts): boolean => customer.risk === 'high' || customer.risk === 'prohibited'
const isExposed = ({ record }: RuleFacts): boolean => record.personal?.pepDeclared === true

const fields = (
  step: keyof KybSteps,
  types: readonly CustomerType[],
  member: string,
  names: string,
  when?: Rule['when'],
): FieldRule[] =>
  names
    .split(' ')
    .map((name) => ({ step, types, pointer: `/${member}/${name}`, ...(when === undefined ? {} : { when }) }))

export const FIELD_RULES: readonly FieldRule[] = [
  ...fields(
    'company',
    BUSINESS,
    'company',
    'legalName registrationNumber incorporationCountry incorporationDate legalForm industryCode',
  ),
  ...fields('company', ['sole_trader'], 'company', 'tradingName incorporationCountry'),
  // Collections and cards are taken on the web, and their schemes look at the merchant's page.
  ...fields('company', ['business', 'sole_trader'], 'company', 'website', requests('directDebits', 'cards')),
  ...fields('company', BUSINESS, 'company', 'taxId', inCountries(TAX_COUNTRIES)),
  ...fields(
    'personal',
    PEOPLE,
    'personal',
    'firstName lastName dateOfBirth nationality countryOfResidence address email phone pepDeclared',
  ),
  ...fields('personal', PEOPLE, 'personal', 'taxId taxCountry', inCountries(TAX_COUNTRIES)),
  ...fields(
    'activity',
    ALL,
    'expectedActivity',
    'monthlyVolume monthlyTransactions currencies countries purpose sourceOfFunds',
  ),
]

export const DOCUMENT_RULES: readonly DocumentRule[] = [
  {
    step: 'documents',
    types: BUSINESS,
    type: 'kyb_incorporation',
    when: (facts) => !inCountries(EXTRACT_COUNTRIES)(facts),
  },
  { step: 'documents', types: BUSINESS, type: 'kyb_register_extract', when: inCountries(EXTRACT_COUNTRIES) },
  { step: 'documents', types: BUSINESS, type: 'kyb_articles' },
  { step: 'documents', types: BUSINESS, type: 'kyb_address', when: isHighRisk },
  { step: 'documents', types: PEOPLE, type: 'kyb_person_id' },
  { step: 'documents', types: PEOPLE, type: 'kyb_proof_of_address' },
  {
    step: 'documents',
    types: ALL,
    type: 'kyb_source_of_funds',
    when: (facts) => isHighRisk(facts) || isExposed(facts),
  },
]

/** The fields of a person of a business, and of a company that owns it. */
export const PERSON_FIELDS = {
  person: ['firstName', 'lastName', 'dateOfBirth', 'nationality', 'address'],
  company: ['legalName', 'registrationNumber', 'incorporationCountry'],
} as const

/** The documents of a person of a business. */
export const personDocuments = (facts: RuleFacts, beneficialOwner: boolean): readonly KybDocumentType[] =>
  beneficialOwner && isHighRisk(facts) ? ['kyb_person_id', 'kyb_proof_of_address'] : ['kyb_person_id']

/** The rows that apply to a case. */
export function rulesOf<Row extends Rule>(rows: readonly Row[], facts: RuleFacts): readonly Row[] {
  return rows.filter(
    ({ types, when }) => types.includes(facts.customer.customerType) && (when === undefined || when(facts)),
  )
}
