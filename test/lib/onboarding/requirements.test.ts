/** What a case needs, by country, type, capability and risk; and what falls due again once it is approved. */
import t from 'tap'
import { DAY_MS } from '../../../lib/base/clock.ts'
import { CUSTOMER_TYPES, type CustomerType } from '../../../lib/customers/types.ts'
import {
  CUSTOMER_CAPABILITIES,
  KYB_CASE_STATUSES,
  type CustomerCapability,
  type KybCaseStatus,
} from '../../../lib/onboarding/case-words.ts'
import { NO_ACTIVITY, NO_PERSON, type KybCaseRecord } from '../../../lib/onboarding/kyb-case.ts'
import { kybCaseJson } from '../../../lib/onboarding/kyb-case-view.ts'
import { NO_DETAILS } from '../../../lib/onboarding/kyb-person.ts'
import { nextChangeAt, requirementsOf, stepsOf, submissionFaults } from '../../../lib/onboarding/requirements.ts'
import { COMPLETE, day, document, factsOf, NOW, person, STATED, type Given } from './facts.ts'

const due = (given: Given, now = NOW) => requirementsOf(factsOf(given), now).currentlyDue.map(({ pointer }) => pointer)
const fields = (member: string, names: string) => names.split(' ').map((name) => `/${member}/${name}`)
const ACTIVITY = fields(
  'expectedActivity',
  'monthlyVolume monthlyTransactions currencies countries purpose sourceOfFunds',
)
const PERSONAL = fields(
  'personal',
  'firstName lastName dateOfBirth nationality countryOfResidence address email phone pepDeclared',
)
const COMPANY = fields('company', 'registrationNumber incorporationDate legalForm industryCode')
const STATEMENTS = ['/attestations/allDirectors', '/attestations/allOwners', '/terms']
const TAXED = ['/personal/taxId', '/personal/taxCountry']

/** What an empty draft needs: by type, country and capability. */
const EMPTY: Readonly<Record<CustomerType, (country: string, capability: CustomerCapability) => readonly string[]>> = {
  business: (country, capability) => [
    ...COMPANY,
    ...(capability === 'directDebits' || capability === 'cards' ? ['/company/website'] : []),
    ...(country === 'US' ? ['/company/taxId'] : []),
    ...ACTIVITY,
    '/addresses',
    '/persons',
    country === 'NL' ? '/documents/kyb_register_extract' : '/documents/kyb_incorporation',
    '/documents/kyb_articles',
    ...STATEMENTS,
  ],
  sole_trader: (country, capability) => [
    '/company/tradingName',
    ...(capability === 'directDebits' || capability === 'cards' ? ['/company/website'] : []),
    ...PERSONAL,
    ...(country === 'US' ? TAXED : []),
    ...ACTIVITY,
    '/documents/kyb_person_id',
    '/documents/kyb_proof_of_address',
    '/terms',
  ],
  individual: (country) => [
    ...PERSONAL,
    ...(country === 'US' ? TAXED : []),
    ...ACTIVITY,
    '/documents/kyb_person_id',
    '/documents/kyb_proof_of_address',
    '/terms',
  ],
}

t.test('what an empty draft needs follows from country, type and capability', (t) => {
  for (const type of CUSTOMER_TYPES)
    for (const country of ['NL', 'GB', 'US'])
      for (const capability of CUSTOMER_CAPABILITIES)
        t.strictSame(
          due({ type, country, capabilities: [capability] }).sort(),
          [...EMPTY[type](country, capability)].sort(),
          `${type} ${country} ${capability}`,
        )
  t.end()
})

t.test('a high risk asks for more', (t) => {
  const more = (given: Given) => {
    const usual = new Set(due({ ...given, risk: 'low' }))
    return due({ ...given, risk: 'high' }).filter((pointer) => !usual.has(pointer))
  }
  t.strictSame(more({}), ['/documents/kyb_address', '/documents/kyb_source_of_funds'])
  t.strictSame(more({ type: 'individual' }), ['/documents/kyb_source_of_funds'])
  t.strictSame(more(COMPLETE), [
    '/persons/noor/documents/kyb_proof_of_address',
    '/documents/kyb_address',
    '/documents/kyb_source_of_funds',
  ])
  t.strictSame(
    due({ type: 'individual', record: { personal: { ...NO_PERSON, pepDeclared: true } } }).filter((pointer) =>
      pointer.startsWith('/documents'),
    ),
    ['/documents/kyb_person_id', '/documents/kyb_proof_of_address', '/documents/kyb_source_of_funds'],
    'so does a person who is politically exposed',
  )
  t.end()
})

t.test('a complete case needs nothing, and its steps are the summary', (t) => {
  const facts = factsOf(COMPLETE)
  t.strictSame(submissionFaults(facts, NOW), [])
  t.match(requirementsOf(facts, NOW), { currentlyDue: [], pastDue: [], errors: [], awaitingActionFrom: 'customer' })
  t.strictSame(Object.values(stepsOf(facts, NOW)), [true, true, true, true, true, true])
  const without = (given: Given) =>
    Object.entries(stepsOf(factsOf({ ...COMPLETE, ...given }), NOW)).flatMap(([step, done]) => (done ? [] : [step]))
  t.strictSame(without({ registeredAddress: false }), ['addresses'])
  t.strictSame(without({ persons: [] }), ['ownership'])
  t.strictSame(without({ documents: [document('kyb_person_id', { personId: 'noor' })] }), ['documents'])
  t.strictSame(without({ record: { ...COMPLETE.record, expectedActivity: NO_ACTIVITY } }), ['activity'])
  t.strictSame(
    without({ record: { ...COMPLETE.record, company: { ...COMPLETE.record!.company!, legalForm: null } } }),
    ['company'],
  )
  t.strictSame(
    Object.entries(stepsOf(factsOf({ type: 'individual' }), NOW))
      .filter(([, done]) => done)
      .map(([step]) => step),
    ['company', 'addresses', 'ownership'],
    'people own themselves',
  )
  t.end()
})

t.test('the owners of a quarter are named, through companies too', (t) => {
  const holding = person('holding', {
    kind: 'company',
    roles: [],
    ownershipPercent: '80',
    ownedBy: [{ ownerId: 'noor', sharePercent: '31.25' }],
    details: { ...NO_DETAILS, legalName: 'Holding BV', registrationNumber: '1', incorporationCountry: 'NL' },
  })
  const noor = person('noor', { roles: [], ownershipPercent: null })
  const director = person('jan', { ownershipPercent: null })
  const given = { ...COMPLETE, persons: [holding, noor, director] }
  t.strictSame(
    due(given),
    ['/persons/holding/ownedBy', '/persons/jan/documents/kyb_person_id', '/documents/kyb_ownership_chart'],
    '55 % of the customer belong to owners of the holding that are not told',
  )
  const told = { ...holding, ownedBy: [...holding.ownedBy!, { ownerId: 'jan', sharePercent: '68.75' }] }
  const person_id = (personId: string) => document('kyb_person_id', { personId })
  const documents = [...COMPLETE.documents!, person_id('jan'), document('kyb_ownership_chart')]
  t.strictSame(due({ ...given, documents, persons: [told, noor, director] }), [])
  const below = { ...told, ownedBy: [{ ownerId: 'noor', sharePercent: '31.2499' }, told.ownedBy[1]!] }
  const named = documents.filter(({ personId }) => personId !== 'noor')
  t.strictSame(due({ ...given, documents: named, persons: [told, noor, director] }), [
    '/persons/noor/documents/kyb_person_id',
  ])
  t.strictSame(due({ ...given, documents: named, persons: [below, noor, director] }), [], '24.99992 % is no quarter')
  const nominee = person('noor', { nominee: true })
  t.strictSame(due({ ...COMPLETE, persons: [nominee] }), ['/persons/noor/nominee'])
  const dispersed = [person('noor', { roles: ['director', 'controller'], ownershipPercent: null })]
  t.strictSame(due({ ...COMPLETE, persons: dispersed }), [], 'a controller stands in where nobody owns a quarter')
  t.strictSame(due({ ...COMPLETE, persons: [person('noor', { ownershipPercent: null })] }), ['/persons'])
  t.end()
})

t.test('a document counts once it is clean, and is asked for again before it expires', (t) => {
  const extract = (more: Parameters<typeof document>[1]) => ({
    ...COMPLETE,
    documents: [document('kyb_register_extract', more), ...COMPLETE.documents!.slice(1)],
  })
  const at = '/documents/kyb_register_extract'
  const of = (given: Given, now = NOW) => requirementsOf(factsOf(given), now)
  t.match(of(extract({ status: 'pending_scan' })), { currentlyDue: [], pendingVerification: [{ pointer: at }] })
  t.match(of(extract({ status: 'infected' })), {
    currentlyDue: [{ pointer: at, reason: 'not_clean', kind: 'document', documentType: 'kyb_register_extract' }],
    errors: [{ requirement: at, code: 'document_not_clean' }],
  })
  t.match(of(extract({ expiresOn: day(10) })), { currentlyDue: [], eventuallyDue: [{ pointer: at }], deadline: null })
  t.match(of(extract({ expiresOn: day(-1) })), { currentlyDue: [{ pointer: at, reason: 'expired' }], pastDue: [] })
  const approved = (expiresOn: string) => ({ ...extract({ expiresOn }), status: 'approved' as const })
  t.match(of(approved(day(31))), {
    currentlyDue: [],
    eventuallyDue: [{ pointer: at, reason: 'expires' }],
    deadline: null,
  })
  t.match(of(approved(day(30))), {
    currentlyDue: [{ pointer: at, reason: 'expires' }],
    eventuallyDue: [],
    deadline: Date.parse(`${day(30)}T00:00:00Z`),
    awaitingActionFrom: 'customer',
  })
  t.match(of(approved(day(0))), { currentlyDue: [], pastDue: [{ pointer: at, reason: 'expired' }] })
  const renewed = approved(day(0))
  t.match(of({ ...renewed, documents: [...renewed.documents, document('kyb_register_extract')] }), { pastDue: [] })
  t.equal(nextChangeAt(factsOf(approved(day(31))), NOW), Date.parse(`${day(1)}T00:00:00Z`))
  t.equal(nextChangeAt(factsOf(approved(day(30))), NOW), Date.parse(`${day(30)}T00:00:00Z`))
  t.equal(nextChangeAt(factsOf(COMPLETE), NOW), null)
  t.equal(nextChangeAt(factsOf(extract({ status: 'pending_scan' })), NOW), NOW, 'a scan may end at any time')
  t.end()
})

t.test('an approval settles what was missing; the periodic review asks for the statements again', (t) => {
  t.match(requirementsOf(factsOf({ status: 'approved' }), NOW), { currentlyDue: [], awaitingActionFrom: null })
  const reviewed = (days: number, record: Partial<KybCaseRecord> = {}): Given => ({
    ...COMPLETE,
    status: 'approved',
    record: { ...COMPLETE.record, nextReviewAt: NOW + days * DAY_MS, ...record },
  })
  const pointers = (given: Given, list: 'currentlyDue' | 'eventuallyDue' | 'pastDue') =>
    requirementsOf(factsOf(given), NOW)[list].map(({ pointer }) => pointer)
  t.strictSame(pointers(reviewed(31), 'eventuallyDue'), STATEMENTS)
  t.strictSame(pointers(reviewed(30), 'currentlyDue'), [], 'stated on the first day of the review')
  const old = { at: NOW - 60 * DAY_MS, by: 'noor' }
  const stale = { attestations: { allDirectors: old, allOwners: STATED } }
  t.strictSame(pointers(reviewed(10, stale), 'currentlyDue'), ['/attestations/allDirectors'])
  t.strictSame(pointers(reviewed(-1, stale), 'pastDue'), ['/attestations/allDirectors'])
  const problems = (given: Given) =>
    kybCaseJson({ ...factsOf(given), addresses: [] }, NOW, { reviewer: false }).capabilities.map(
      ({ capability, allowed, problems }) => `${capability} ${allowed} ${problems.join(' ')}`.trim(),
    )
  t.strictSame(problems(reviewed(31)), [
    'receive true',
    'send true',
    'exchange true',
    'directDebits false',
    'cards false',
  ])
  t.strictSame(
    problems(reviewed(-1, stale)),
    [
      'receive true',
      'send false requirements_past_due',
      'exchange false requirements_past_due',
      'directDebits false',
      'cards false',
    ],
    'money still comes in',
  )
  t.end()
})

t.test('each case waits for somebody, and questions of reviewers are due until they are answered', (t) => {
  const waits = (status: KybCaseStatus, record: Partial<KybCaseRecord> = {}) =>
    requirementsOf(factsOf({ ...COMPLETE, status, record: { ...COMPLETE.record, ...record } }), NOW).awaitingActionFrom
  t.strictSame(
    KYB_CASE_STATUSES.map((status) => waits(status)),
    ['customer', 'provider', 'provider', 'customer', null, null, null],
  )
  const green = {
    reviewAnswer: 'green',
    rejectType: null,
    rejectLabels: [],
    screening: [],
    moderationComment: null,
  } as const
  t.equal(waits('in_review', { result: green }), 'operator')
  t.equal(waits('in_review', { provider: 'manual' }), 'operator')
  const question = {
    code: 'document',
    field: '/documents/kyb_articles',
    message: 'Page 2 is missing.',
    requestedAt: NOW,
    resolvedAt: null,
  }
  const asked = factsOf({
    ...COMPLETE,
    status: 'info_requested',
    record: { ...COMPLETE.record, infoRequested: [question] },
  })
  t.match(requirementsOf(asked, NOW).currentlyDue, [
    { pointer: question.field, kind: 'document', documentType: 'kyb_articles', reason: 'information_requested' },
  ])
  t.strictSame(submissionFaults(asked, NOW), [], 'the answer is the submission')
  const retry = [person('noor', { status: 'retry' })]
  t.match(requirementsOf(factsOf({ ...COMPLETE, persons: retry }), NOW), {
    currentlyDue: [{ pointer: '/persons/noor', reason: 'verification_failed' }],
    errors: [{ requirement: '/persons/noor', code: 'verification_failed' }],
  })
  t.end()
})
