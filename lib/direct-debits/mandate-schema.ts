/** Mandates, as the API takes and shows them. */
import Type, { type Static } from 'typebox'
import { Address, AddressInput } from '../contract/address.ts'
import { list } from '../contract/list.ts'
import {
  CalendarDate,
  CurrencyCode,
  Email,
  Metadata,
  MetadataPatch,
  Money,
  Nullable,
  PositiveMoney,
  Text,
  Timestamp,
  Uuid,
  Words,
} from '../contract/primitives.ts'
import { MANDATE_MANAGEMENTS, MANDATE_SCHEMES } from '../rails/debit-schemes.ts'
import { MANDATE_DIRECTIONS, MANDATE_STATUSES } from './mandate.ts'
import { AUTHORISATION_SOURCES, CONSENT_TYPES, COUNTERPARTY_KINDS, SEQUENCE_TYPES } from './schemes.ts'

export const MandateScheme = Words('MandateScheme', MANDATE_SCHEMES)
const MandateDirection = Words(
  'MandateDirection',
  MANDATE_DIRECTIONS,
  '`collect`: the customer is the creditor. `pay`: the counterparty collects from the balance.',
)
export const MandateStatus = Words('MandateStatus', MANDATE_STATUSES)
export const SequenceType = Words('SequenceType', SEQUENCE_TYPES)
const CounterpartyKind = Words('CounterpartyKind', COUNTERPARTY_KINDS)
const AuthorisationSource = Words('AuthorisationSource', AUTHORISATION_SOURCES)
const ConsentType = Words('ConsentType', CONSENT_TYPES)

const NOTICE_DAYS_MAX = 60
const NoticeDays = Type.Integer({ minimum: 1, maximum: NOTICE_DAYS_MAX })

const account = (max: number) => Nullable(Text(1, max))
const ACCOUNT = {
  iban: account(42),
  bic: account(11),
  sortCode: account(10),
  accountNumber: account(34),
  routingNumber: account(12),
  accountType: account(20),
  bsb: account(10),
  institutionNumber: account(6),
  transitNumber: account(8),
} as const

const MaskedAccount = Type.Object(ACCOUNT, { title: 'MaskedDebtorAccount' })

const DebitPeriod = Type.Object(
  { count: Type.Integer(), unit: Words('DebitPeriodUnit', ['calendar', 'working', 'weeks', 'months']) },
  { title: 'DebitPeriod' },
)

export const Mandate = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    direction: MandateDirection,
    scheme: MandateScheme,
    reference: Type.String({ description: 'The reference of the mandate (UMR).' }),
    balanceId: Uuid,
    counterparty: Type.Object(
      {
        name: Type.String(),
        kind: CounterpartyKind,
        ...ACCOUNT,
        creditorId: Nullable(Type.String()),
        address: Nullable(Address),
        email: Nullable(Type.String()),
      },
      { title: 'MandateCounterparty', description: 'Numbers of accounts are masked.' },
    ),
    status: MandateStatus,
    statusReason: Nullable(Type.String()),
    management: Words('MandateManagement', MANDATE_MANAGEMENTS),
    sequenceType: SequenceType,
    amountLimit: Nullable(Money),
    preNotificationDays: Nullable(Type.Integer(), { description: 'In the unit of `schemeRules.preNotification`.' }),
    consentType: Nullable(ConsentType),
    authorisationSource: Nullable(AuthorisationSource),
    creditorScheme: Nullable(
      Type.Object({ creditorId: Type.String(), name: Type.String() }, { title: 'CreditorScheme' }),
    ),
    schemeRules: Type.Object(
      {
        name: Type.String(),
        currency: CurrencyCode,
        timeZone: Type.String(),
        cutOff: Type.String(),
        daysToSettle: Type.Integer(),
        earliestDays: Type.Integer(),
        preNotification: DebitPeriod,
        dormancyMonths: Nullable(Type.Integer()),
        windows: Type.Object(
          {
            return: Nullable(DebitPeriod),
            refundAuthorised: Nullable(DebitPeriod),
            refundUnauthorised: Nullable(DebitPeriod),
            reversal: Nullable(DebitPeriod),
            indemnityClaims: Type.Boolean(),
          },
          { title: 'DebitWindows' },
        ),
        retryReasons: Type.Array(Type.String()),
        maxAttempts: Type.Integer(),
        sequenceCodes: Type.Record(Type.String(), Type.String()),
      },
      { title: 'MandateSchemeRules' },
    ),
    signedAt: Nullable(Timestamp),
    mandateDocumentId: Nullable(Uuid),
    cancelledAt: Nullable(Timestamp),
    providerRef: Nullable(Type.String()),
    lastCollectionAt: Nullable(Timestamp),
    nextCollectionDate: Nullable(CalendarDate, { description: 'The due date of its next pending collection.' }),
    nextPossibleCollectionDate: Nullable(CalendarDate, {
      description: 'The earliest due date of a collection that is made now.',
    }),
    pendingAmendment: Nullable(
      Type.Object(
        {
          reference: Nullable(Type.String()),
          creditorId: Nullable(Type.String()),
          creditorName: Nullable(Type.String()),
          account: Nullable(MaskedAccount),
          since: Timestamp,
        },
        { title: 'MandateAmendment', description: 'Former values, until a file has told them to the bank.' },
      ),
    ),
    history: Type.Array(
      Type.Object(
        {
          status: MandateStatus,
          at: Timestamp,
          reason: Nullable(Type.String()),
          formerAccount: Nullable(MaskedAccount),
        },
        { title: 'MandateHistoryEntry' },
      ),
    ),
    cancellable: Type.Boolean(),
    metadata: Metadata,
    createdAt: Timestamp,
  },
  { title: 'Mandate' },
)
export type Mandate = Static<typeof Mandate>

const CounterpartyCreate = Type.Object(
  {
    name: Text(1, 70),
    kind: Type.Optional(CounterpartyKind),
    iban: Type.Optional(ACCOUNT.iban),
    bic: Type.Optional(ACCOUNT.bic),
    sortCode: Type.Optional(ACCOUNT.sortCode),
    accountNumber: Type.Optional(ACCOUNT.accountNumber),
    routingNumber: Type.Optional(ACCOUNT.routingNumber),
    accountType: Type.Optional(Nullable(Words('DebtorAccountType', ['checking', 'savings']))),
    bsb: Type.Optional(ACCOUNT.bsb),
    institutionNumber: Type.Optional(ACCOUNT.institutionNumber),
    transitNumber: Type.Optional(ACCOUNT.transitNumber),
    creditorId: Type.Optional(Nullable(Text(1, 35))),
    address: Type.Optional(Nullable(AddressInput)),
    email: Type.Optional(Nullable(Email, { description: 'Where the service tells the payer of collections.' })),
  },
  { title: 'MandateCounterpartyCreate', additionalProperties: false },
)

export const MandateCreate = Type.Object(
  {
    direction: MandateDirection,
    scheme: MandateScheme,
    reference: Type.Optional(Nullable(Text(0, 35, { description: 'Empty: the service makes one.' }))),
    balanceId: Uuid,
    counterparty: CounterpartyCreate,
    sequenceType: Type.Optional(Words('MandateSequenceType', ['recurring', 'one_off', 'final'])),
    amountLimit: Type.Optional(Nullable(PositiveMoney)),
    preNotificationDays: Type.Optional(
      Nullable(NoticeDays, { description: 'The notice that was agreed with the payer; null: that of the scheme.' }),
    ),
    consentType: Type.Optional(Nullable(ConsentType)),
    authorisationSource: Type.Optional(Nullable(AuthorisationSource)),
    signedAt: Type.Optional(Nullable(CalendarDate)),
    mandateDocumentId: Type.Optional(Nullable(Uuid)),
    metadata: Type.Optional(Metadata),
  },
  {
    title: 'MandateCreate',
    additionalProperties: false,
    examples: [
      {
        direction: 'collect',
        scheme: 'sepa_dd_core',
        reference: '',
        balanceId: '01980d6e-7f3a-7c21-9f58-0a1b2c3d4e5f',
        counterparty: { name: 'Ada Payer', iban: 'NL50SBOX0100000002' },
        signedAt: '2026-05-04',
      },
    ],
  },
)
export type MandateCreate = Static<typeof MandateCreate>

export const MandateUpdate = Type.Object(
  {
    metadata: Type.Optional(MetadataPatch),
    amountLimit: Type.Optional(Nullable(PositiveMoney)),
    preNotificationDays: Type.Optional(
      Nullable(NoticeDays, { description: 'The notice that was agreed with the payer; null: that of the scheme.' }),
    ),
    balanceId: Type.Optional(Uuid),
    counterparty: Type.Optional(
      Type.Object(
        {
          name: Type.Optional(Text(1, 70)),
          address: Type.Optional(Nullable(AddressInput)),
          email: Type.Optional(Nullable(Email)),
        },
        { title: 'MandateCounterpartyUpdate', additionalProperties: false },
      ),
    ),
    signedAt: Type.Optional(CalendarDate),
  },
  {
    title: 'MandateUpdate',
    additionalProperties: false,
    examples: [{ amountLimit: { amountMinor: '50000', currency: 'EUR' } }],
  },
)
export type MandateUpdate = Static<typeof MandateUpdate>

export const MandateCancel = Type.Object(
  { reason: Type.Optional(Nullable(Text(0, 200))) },
  { title: 'MandateCancel', additionalProperties: false, examples: [{ reason: 'The contract has ended.' }] },
)
export type MandateCancel = Static<typeof MandateCancel>

export const MandateStatusReport = Type.Object(
  {
    status: Words('ReportedMandateStatus', ['submitted', 'active', 'suspended', 'failed', 'cancelled']),
    reasonCode: Type.Optional(Nullable(Text(1, 10))),
    reportedAt: Timestamp,
    signedAt: Type.Optional(Nullable(CalendarDate)),
    documentId: Type.Optional(Nullable(Uuid, { description: 'A document of the customer that proves the report.' })),
  },
  {
    title: 'MandateStatusReport',
    additionalProperties: false,
    examples: [{ status: 'active', reportedAt: '2026-05-04T09:30:00.000Z' }],
  },
)
export type MandateStatusReport = Static<typeof MandateStatusReport>

export const mandateList = list({
  filters: {
    status: { kind: 'words', values: MANDATE_STATUSES },
    direction: { kind: 'words', values: MANDATE_DIRECTIONS },
    scheme: { kind: 'words', values: MANDATE_SCHEMES },
    balanceId: { kind: 'ids' },
    reference: { kind: 'text', max: 35 },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})
