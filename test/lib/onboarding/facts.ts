/** Cases as facts, for tests of what they need. */
import { DAY_MS, timestamp } from '../../../lib/base/clock.ts'
import type { CustomerType } from '../../../lib/customers/types.ts'
import type { CustomerCapability, KybCaseStatus } from '../../../lib/onboarding/case-words.ts'
import { draftCase, type KybCaseRecord } from '../../../lib/onboarding/kyb-case.ts'
import type { KybDocumentRecord, KybDocumentType } from '../../../lib/onboarding/kyb-document.ts'
import { NO_DETAILS, type KybPersonRecord } from '../../../lib/onboarding/kyb-person.ts'
import type { CaseFacts } from '../../../lib/onboarding/requirements.ts'

export const NOW = Date.parse('2026-03-02T10:00:00.000Z')
export const day = (days: number) => timestamp(NOW + days * DAY_MS).slice(0, 10)

const ADDRESS = {
  line1: 'Damrak 1',
  line2: null,
  buildingNumber: null,
  city: 'Amsterdam',
  postalCode: null,
  state: null,
  country: 'NL',
}

export interface Given {
  readonly type?: CustomerType
  readonly country?: string
  readonly capabilities?: readonly CustomerCapability[]
  readonly risk?: CaseFacts['customer']['risk']
  readonly status?: KybCaseStatus
  readonly record?: Partial<KybCaseRecord>
  readonly persons?: readonly KybPersonRecord[]
  readonly documents?: readonly KybDocumentRecord[]
  readonly registeredAddress?: boolean
}

export function factsOf({
  type = 'business',
  country = 'NL',
  capabilities,
  risk = null,
  status = 'draft',
  ...given
}: Given): CaseFacts {
  const draft = draftCase({
    id: 'case',
    customerId: 'customer',
    operatorId: 'operator',
    provider: 'sandbox',
    known: { legalName: 'Molen Handel BV', incorporationCountry: country },
    now: NOW,
  })
  return {
    record: { ...draft, status, ...(capabilities === undefined ? {} : { capabilities }), ...given.record },
    customer: { customerType: type, status: status === 'approved' ? 'active' : 'onboarding', measure: null, risk },
    persons: given.persons ?? [],
    documents: given.documents ?? [],
    registeredAddress: given.registeredAddress ?? false,
  }
}

export const person = (id: string, more: Partial<KybPersonRecord> = {}): KybPersonRecord => ({
  id,
  customerId: 'customer',
  kind: 'person',
  roles: ['director'],
  details: {
    ...NO_DETAILS,
    firstName: 'Noor',
    lastName: 'de Wit',
    dateOfBirth: '1980-02-01',
    nationality: 'NL',
    address: ADDRESS,
  },
  ownershipPercent: '100',
  ownedBy: null,
  nominee: false,
  status: 'draft',
  applicantId: null,
  rejectLabels: [],
  version: 1n,
  createdAt: NOW,
  updatedAt: NOW,
  ...more,
})

export const document = (
  type: KybDocumentType,
  more: Partial<KybDocumentRecord> & { readonly status?: KybDocumentRecord['file']['status'] } = {},
): KybDocumentRecord => {
  const { status = 'clean', ...rest } = more
  return {
    type,
    personId: null,
    requirement: null,
    expiresOn: null,
    ...rest,
    file: {
      id: type,
      customerId: 'customer',
      transactionId: null,
      purpose: 'kyb',
      fileId: type,
      fileName: 'x.pdf',
      contentType: 'application/pdf',
      sizeBytes: 1,
      sha256: '',
      status,
      createdBy: 'noor',
      createdByName: 'Noor',
      version: 1n,
      createdAt: NOW,
    },
  }
}

export const STATED = { at: NOW, by: 'noor' }
export const COMPLETE: Given = {
  registeredAddress: true,
  record: {
    company: {
      legalName: 'Molen Handel BV',
      tradingName: null,
      registrationNumber: '12345678',
      incorporationCountry: 'NL',
      incorporationDate: '2019-01-01',
      legalForm: 'BV',
      website: null,
      industryCode: '46.90',
      taxId: null,
    },
    expectedActivity: {
      monthlyVolume: { amountMinor: '100', currency: 'EUR' },
      monthlyTransactions: 0,
      currencies: ['EUR'],
      countries: ['NL'],
      purpose: 'Trade',
      sourceOfFunds: 'Sales',
    },
    attestations: { allDirectors: STATED, allOwners: STATED },
    terms: { ...STATED, version: '2026-01', address: '127.0.0.1' },
  },
  persons: [person('noor')],
  documents: [
    document('kyb_register_extract'),
    document('kyb_articles'),
    document('kyb_person_id', { personId: 'noor' }),
  ],
}
