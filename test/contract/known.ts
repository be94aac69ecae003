/**
 * What of the contract is not there: the work that comes later, by area, and the differences of what is there, each with
 * its reason. The lists only shrink: a test compares what it finds with its section here, so an entry that has been
 * built fails, and so does a difference that is not listed.
 */
import type { Test } from 'tap'
import { STAFF_ROLES } from '../../lib/identity/capabilities.ts'
import { ADDED_OPERATIONS } from './data/added-operations.ts'
import { CONTRACT } from './operations.ts'

/** The sections of the contract that are walked, each by the test file of the same name. */
export type Section =
  | 'operations'
  | 'lists'
  | 'access'
  | 'problem-types'
  | 'event-types'
  | 'postings'
  | 'moves'
  | 'enumerations'
  | 'sandbox'
  | 'limits'
  | 'settings'

/**
 * An area of later work, with what it will bring to each section. An operation is named by its operationId, by method
 * and path, or together with all that begin like it by a path.
 */
type Later = { readonly area: string; readonly reason: string } & {
  readonly [section in Section]?: readonly string[]
}

const LATER: readonly Later[] = [
  {
    area: 'customers, onboarding and staff',
    reason: 'Nothing monitors transactions.',
    enumerations: ['ComplianceHoldKind transaction_monitoring is made by nothing'],
  },
  {
    area: 'developers',
    reason:
      'There are no workspaces to register for, no clock to turn, no list or stream of events, and no way to catch up ' +
      'from where a list was left.',
    operations: ['/developer', '/platform', '/events', '/sandbox/clock'],
    lists: [
      'listBalanceJournal filter afterSequence',
      'listBalanceJournal pages of 1000',
      'listPayments filter updatedFrom',
      'listTransactions filter updatedFrom',
      'listTransactions pages of 1000',
    ],
    moves: numbered('registration U', 5),
    enumerations: [
      'DeveloperRegistrationMode',
      'DeveloperRegistrationStatus',
      'JobKind developer_provision is made by nothing',
    ],
  },
]

/** A difference of something that exists, or something of the product that the contract does not have. */
interface Difference {
  readonly section: Section
  readonly what: readonly string[]
  readonly reason: string
}

const DIFFERENT: readonly Difference[] = [
  {
    section: 'operations',
    what: ['put /balances/{balanceId}/debit-controls: step-up settings.change, not null'],
    reason: 'With a stolen session alone nobody opens a balance to a creditor that is blocked.',
  },
  {
    section: 'operations',
    what: [
      'post /users/me/mfa-factors: step-up settings.change, not null',
      'delete /users/me/mfa-factors/{factorId}: step-up settings.change, not null',
      'updateApiKey: step-up api_key.create, not null',
    ],
    reason: 'With a stolen session alone nobody adds or removes a second factor, or lets a key in from more addresses.',
  },
  {
    section: 'operations',
    what: [
      'listDocuments: permission payments:read, not ',
      'deleteDocument: permission payments.create or settings.manage or onboarding.write, not ',
    ],
    reason: 'Documents of payments are for people who may read them, and deleted by those who may add them.',
  },
  {
    section: 'access',
    what: ['getKybCase lets in: owner, admin'],
    reason: 'Those who fill in the case of their customer read it; keys need the scope, which those of operators have.',
  },
  {
    section: 'access',
    what: ['listDocuments refuses: cardholder', 'deleteDocument refuses: approver, accountant, viewer, cardholder'],
    reason: 'The same.',
  },
  {
    section: 'operations',
    what: ['get /operator/staff: list true, not false', 'get /operator/staff-invitations: list true, not false'],
    reason: 'The staff of an operator are listed as the members of a customer are, by pages.',
  },
  {
    section: 'operations',
    what: [
      'get /ledger/accounts: list true, not false',
      'get /ledger/entries: list true, not false',
      'get /reports: list true, not false',
    ],
    reason: 'They grow without end, so they are lists by pages.',
  },
  {
    section: 'operations',
    what: ['post /ledger/adjustments: Idempotency-Key required, not none'],
    reason: 'An adjustment moves money, so a repeated request must not ask for it twice.',
  },
  {
    section: 'operations',
    what: [
      'get /ledger/trial-balance: callers key, not staff',
      'get /ledger/trial-balance: permission treasury:read, not treasury.read',
    ],
    reason: 'Reconciliations are read with the scope treasury:read, and their totals are those of the trial balance.',
  },
  {
    section: 'access',
    what: ['getCustomer lets in: owner, admin, approver, preparer, accountant'],
    reason: 'The seed serves it to the customer itself, and members need its tag for a change.',
  },
  {
    section: 'access',
    what: [
      'get /ledger/trial-balance lets in: a key of the operator with treasury:read, compliance, operations, support, integration',
    ],
    reason: 'The same.',
  },
  {
    section: 'operations',
    what: [
      'get /payments/{paymentId}/questions: permission payments:read, not ',
      'post /payments/{paymentId}/questions/{questionId}/answers: permission payments.create, not ',
    ],
    reason: 'Questions about payments are for people who may read them, and answered by those who may order them.',
  },
  {
    section: 'access',
    what: [
      'get /payments/{paymentId}/questions refuses: cardholder',
      'post /payments/{paymentId}/questions/{questionId}/answers refuses: approver, accountant, viewer, cardholder',
    ],
    reason: 'The same.',
  },
  {
    section: 'access',
    what: [
      'getBalance',
      'getPayment',
      'getTransaction',
      'listBalanceHolds',
      'listBalanceJournal',
      'listPaymentUpdates',
      'listPayments',
      'listTransactions',
    ].map((name) => `${name} lets in: ${STAFF_ROLES.map((role) => `${role} for a customer`).join(', ')}`),
    reason: 'Staff have the read scopes, and payments, transactions and balances have members that staff alone see.',
  },
  {
    section: 'problem-types',
    what: ['not-implemented is never refused with', 'provider-timeout is never refused with'],
    reason:
      'No operation is a stub, and none waits for a partner: what a partner does not answer becomes an exception.',
  },
  {
    section: 'event-types',
    what: ['deprecated_operation.used is never sent'],
    reason: 'No operation is deprecated.',
  },
  {
    section: 'enumerations',
    what: ['ForwardContractStatus failed', 'ForwardContractStatus exception', 'HeldRateStatus failed'],
    reason: 'A contract is booked nowhere but here, so no partner fails it; its drawdowns can fail.',
  },
  {
    section: 'enumerations',
    what: ['adyen', 'banking_circle', 'currencycloud', 'modulr'].map((name) => `ProviderId ${name}`),
    reason: 'The contract leaves the set open: a provider has a name when there is an adapter for it.',
  },
  {
    section: 'enumerations',
    what: ['JobKind usage_export is made by nothing'],
    reason: 'The usage of keys is answered at once, for at most 90 days.',
  },
  {
    section: 'enumerations',
    what: ['StepUpMethod push'],
    reason: 'There is no app of the service that a push could reach.',
  },
  {
    section: 'enumerations',
    what: [
      'PaymentExceptionKind reconciliation_mismatch is made by nothing',
      'PaymentExceptionKind ledger_blocked is made by nothing',
    ],
    reason:
      'A mismatch is an item of its reconciliation, and a broken journal is found by the audit; neither stops a payment.',
  },
]

const BEYOND: readonly Difference[] = [
  {
    section: 'operations',
    what: ['activateCard'],
    reason: 'A physical card is active when its holder has it.',
  },
  {
    section: 'operations',
    what: ['receiveCardMessage'],
    reason: 'An issuer waits for the answer to an authorisation; webhooks are used when their answer has left.',
  },
  {
    section: 'operations',
    what: ['noteCollectionNotice'],
    reason: 'The contract has customers tell payers by themselves, and names no operation to note it.',
  },
  {
    section: 'operations',
    what: ['confirmIncomingDebit'],
    reason: 'The contract has debits wait until the customer confirms their mandate, and names no operation for it.',
  },
  {
    section: 'operations',
    what: [
      'getAnnotation',
      'getCollectionFile',
      'getCollectionResponse',
      'getCurrentImpersonation',
      'getCustomerAddress',
      'getCustomerInvitation',
      'getIncomingSuspense',
      'getKybDocument',
      'getKybPerson',
      'getKycConnection',
      'getRoutingRule',
      'getKybCaseReview',
      'getLedgerAdjustment',
      'getLedgerEntry',
      'getMfaFactor',
      'getOperatorApiKey',
      'getRecipientReview',
      'getReport',
      'getStaff',
      'getStaffInvitation',
      'getStepUpChallenge',
      'getTeam',
    ],
    reason: 'Reads of one thing whose list and changes the contract has: the Location of its creation, and its ETag.',
  },
  {
    section: 'operations',
    what: ['freezeBalance', 'unfreezeBalance', 'placeStaffHold', 'getStaffHold', 'releaseStaffHold'],
    reason: 'The statuses and holds that the contract gives to staff, for which it names no operation.',
  },
  {
    section: 'operations',
    what: [
      'approveLedgerAdjustment',
      'rejectLedgerAdjustment',
      'listLedgerAdjustments',
      'blockRecipient',
      'unblockRecipient',
      'resolveReconciliationBreak',
      'revokeStaffInvitation',
      'updateStaffInvitation',
      'verifyMfaFactor',
    ],
    reason: 'Moves that the contract has, for which it names no operation.',
  },
  {
    section: 'operations',
    what: ['createRecoveryCodes', 'getRecoveryCodes', 'updateMfaFactor'],
    reason: 'The contract has the method recovery_code and factors with names, for which it names no operations.',
  },
  {
    section: 'operations',
    what: ['listCollectionResponseLines', 'listCollectionResponses'],
    reason: 'The contract has a preview of what banks answer, and names no operations by which staff read it.',
  },
  {
    section: 'operations',
    what: ['downloadAnswerDocument'],
    reason: 'The contract has answers with documents, and names no operation by which staff read them.',
  },
  {
    section: 'event-types',
    what: ['payment_question.asked', 'payment_question.answered'],
    reason: 'The contract has questions about held payments, and names no events for them.',
  },
  {
    section: 'operations',
    what: ['reprocessProviderEvents', 'dismissProviderEvent'],
    reason:
      'The contract has a range used again and a queue of what matches nothing, and names no operations for them.',
  },
  {
    section: 'lists',
    what: ['listProviderEvents filter reason', 'listProviderEvents filter source'],
    reason: 'The queue of what matches nothing, and the events of one source.',
  },
  {
    section: 'operations',
    what: ['confirmProviderCash'],
    reason: 'Banks without statements tell nothing of cash that staff have moved between two of them.',
  },
  {
    section: 'operations',
    what: ['decideScreeningAlert'],
    reason: 'The contract has two people decide on an alert, and names no operation for it.',
  },
  { section: 'operations', what: ['downloadFile'], reason: 'The address of the signed links of downloads.' },
  {
    section: 'operations',
    what: ['getConnectionCalendar', 'updateConnectionCalendar'],
    reason: 'The cut-offs and days of a connection, until connections can be configured as a whole.',
  },
  {
    section: 'lists',
    what: ['listCustomers filter measure'],
    reason: 'A customer that is closing may be restricted or suspended as well, which its status does not show.',
  },
  {
    section: 'lists',
    what: ['listBulkPayments sort createdAt', 'listTransactionUpdates sort at'],
    reason: 'The other direction of the default.',
  },
  {
    section: 'lists',
    what: [
      'listComplianceHolds filter status is open by default',
      'listExceptions filter status is open by default',
      'listKybCases filter status is submitted, in_review, info_requested by default',
      'listRecipientReviews filter status is pending by default',
    ],
    reason: 'The queues of staff show what waits, as the list of approvals does.',
  },
  {
    section: 'problem-types',
    what: ['request-timeout', 'link-expired'],
    reason: 'A body that arrives too slowly, and a download whose link is over.',
  },
  {
    section: 'limits',
    what: ['failed-credentials'],
    reason: 'Wrong credentials of one address, so that keys cannot be guessed.',
  },
  {
    section: 'limits',
    what: ['partner-webhook'],
    reason: 'The webhooks of a partner, which come from a few addresses for all customers.',
  },
  {
    section: 'moves',
    what: ['job: running, start leads to running'],
    reason: 'A job whose node has died is started again.',
  },
  {
    section: 'enumerations',
    what: ['ProviderId files', 'ProviderId column', 'ProviderId increase'],
    reason: 'The set of providers is open: any bank, by files, and two banks in the United States.',
  },
  {
    section: 'enumerations',
    what: ['FailureCode rate_moved', 'HoldSubjectType transfer'],
    reason: 'The refusal of an approved exchange beyond its tolerance, and the hold of a transfer between connections.',
  },
  {
    section: 'enumerations',
    what: ['JobKind connection_migration'],
    reason: 'The contract has a job for the migration of balances, and names no kind for it.',
  },
  {
    section: 'enumerations',
    what: ['BulkFormat mandates_csv', 'BulkFormat collections_csv'],
    reason: 'Mandates and collections come as CSV through the bulk operations; the contract names no format for them.',
  },
  {
    section: 'enumerations',
    what: ['JobKind debit_response', 'JobKind debit_response_apply'],
    reason: 'The contract has jobs for what banks answer about direct debits, and names no kinds for them.',
  },
  { section: 'enumerations', what: ['JobKind report'], reason: 'Reports are jobs, and the contract names no kind.' },
]

/** Rows of state tables that are decided in a transaction, not by a pure function, and the tests that walk them. */
export const WALKED_OVER_HTTP: readonly { readonly rows: readonly string[]; readonly tests: readonly string[] }[] = [
  { rows: numbered('card Z', 6), tests: ['test/http/cards/cards.test.ts'] },
  { rows: ['payment P1', 'payment P2', 'payment P3'], tests: ['test/http/payments/drafts.test.ts'] },
  {
    rows: ['recipient R9', 'recipient R10'],
    tests: ['test/http/recipients/lifecycle.test.ts', 'test/http/recipients/review-queue.test.ts'],
  },
  {
    rows: ['approval A1', 'approval A4', 'approval A5', 'approval A6', 'approval A7'],
    tests: [
      'test/http/approvals/approvals.test.ts',
      'test/http/approvals/deadline.test.ts',
      'test/http/approvals/policies.test.ts',
      'test/http/bulk-payments/approval.test.ts',
    ],
  },
  {
    rows: ['bulk payment B1', 'bulk payment B8', 'bulk row W1', 'bulk row W2'],
    tests: ['test/http/bulk-payments/uploads.test.ts', 'test/http/bulk-payments/approval.test.ts'],
  },
  {
    rows: ['scheduled payment S6'],
    tests: ['test/http/scheduled-payments/failures.test.ts', 'test/http/scheduled-payments/third-failure.test.ts'],
  },
  { rows: ['funds request N1'], tests: ['test/http/funds-requests/requests.test.ts'] },
  { rows: ['job J1'], tests: ['test/http/jobs/jobs.test.ts'] },
  {
    rows: ['quote QU1', 'quote QU2'],
    tests: ['test/http/exchange/refusals.test.ts', 'test/http/exchange/spot.test.ts'],
  },
  { rows: ['drawdown D1'], tests: ['test/http/exchange/forwards.test.ts'] },
  {
    rows: ['customer K1', 'customer K2', 'customer K11'],
    tests: ['test/http/customers/customers.test.ts', 'test/http/customers/measures.test.ts'],
  },
  {
    rows: ['customer K4', 'customer K6', 'customer K7', 'customer K9'],
    tests: ['test/http/onboarding/case-reviews.test.ts'],
  },
  { rows: ['customer K3', 'customer K5', 'customer K8'], tests: ['test/http/onboarding/onboarding.test.ts'] },
  { rows: ['customer K10'], tests: ['test/http/kyc/outcomes.test.ts'] },
  { rows: ['customer K12', 'customer K13', 'customer K14'], tests: ['test/http/customers/closure.test.ts'] },
  {
    rows: [...numbered('endpoint E', 6), 'delivery V1', 'delivery V2', 'delivery V5', 'delivery V6'],
    tests: [
      'test/http/webhooks/deliveries.test.ts',
      'test/http/webhooks/deadlines.test.ts',
      'test/actors/webhooks/webhook-schedule.test.ts',
    ],
  },
  {
    rows: numbered('hold O', 4),
    tests: [
      'test/http/payments/payments.test.ts',
      'test/http/balances/freezing.test.ts',
      'test/http/balances/hold-deadline.test.ts',
    ],
  },
  { rows: numbered('connection Y', 6), tests: ['test/http/providers/connections.test.ts'] },
  { rows: numbered('API key I', 3), tests: ['test/http/identity/api-keys.test.ts'] },
]

/** Sections of the contract that are not walked from a table, and the tests that hold the product to them. */
export const NOT_WALKED: readonly {
  readonly section: string
  readonly reason: string
  readonly tests: readonly string[]
}[] = [
  {
    section: 'rules that all operations share, types and bodies',
    reason: 'Every answer is compared with its schema, and every operation with the rules, by calling it.',
    tests: ['test/contract/contract.test.ts', 'test/http/openapi/contract.test.ts', 'test/http/route/lists.test.ts'],
  },
  {
    section: 'rails, requirements and check digits',
    reason:
      'The tables are long and have tests of their own: requirements and creation are compared in every currency.',
    tests: [
      'test/lib/rails/rails.test.ts',
      'test/lib/recipients/shown-is-checked.test.ts',
      'test/lib/recipients/check-digits.test.ts',
    ],
  },
  {
    section: 'codes of schemes',
    reason: 'Each code of the table is translated there.',
    tests: ['test/lib/rails/failure-codes.test.ts', 'test/lib/recipients/verification.test.ts'],
  },
  {
    section: 'invariants of the ledger',
    reason: 'They are properties of a database, and the audit proves them on one.',
    tests: ['test/storage/audit/audit.test.ts', 'test/lib/ledger/postings.test.ts'],
  },
  {
    section: 'what events carry beyond status and amount, and how they are delivered',
    reason: 'It takes a receiver.',
    tests: ['test/http/webhooks/deliveries.test.ts', 'test/lib/webhooks/signature.test.ts'],
  },
  {
    section: 'formats of bulk files',
    reason: 'It takes files.',
    tests: ['test/workers/bulk-payments/bulk-files.test.ts', 'test/http/bulk-payments/validation.test.ts'],
  },
  {
    section: 'content of a new workspace',
    reason: 'It is what the first start makes.',
    tests: ['test/start/start.test.ts'],
  },
  {
    section: 'tokens, passwords and headers of limits',
    reason: 'They are shown by requests alone.',
    tests: [
      'test/http/identity/sessions.test.ts',
      'test/http/identity/passwords.test.ts',
      'test/http/access/rate-limits.test.ts',
    ],
  },
]

/** `numbered('hold O', 2)`: hold O1, hold O2. */
function numbered(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, nth) => `${prefix}${nth + 1}`)
}

/** The operations that an entry stands for: itself, or all whose path it begins. */
function operationsOf(entry: string): readonly string[] {
  if (!entry.startsWith('/')) return [entry]
  return [...CONTRACT.map(({ id, path }) => ({ name: id, path })), ...ADDED_OPERATIONS]
    .filter(({ path }) => path === entry || path.startsWith(`${entry}/`))
    .map(({ name }) => name)
}

/** The operations that come later, by their operationId, or method and path. */
export const LATER_OPERATIONS: readonly string[] = LATER.flatMap(({ operations = [] }) => operations).flatMap(
  operationsOf,
)

/** Compares the differences that a section has with those that are known. */
export function onlyKnown(t: Test, section: Section, found: Iterable<string>): void {
  const known = [
    ...(section === 'operations' ? LATER_OPERATIONS : LATER.flatMap((later) => later[section] ?? [])),
    ...DIFFERENT.filter((each) => each.section === section).flatMap(({ what }) => what),
  ]
  t.strictSame([...new Set(found)].sort(), known.sort(), `${section}: what is missing or different is known`)
}

/** Compares what the product has beyond the contract with what is known. */
export function onlyKnownBeyond(t: Test, section: Section, found: Iterable<string>): void {
  const known = BEYOND.filter((each) => each.section === section).flatMap(({ what }) => what)
  t.strictSame([...new Set(found)].sort(), known.sort(), `${section}: what the contract does not have is known`)
}
