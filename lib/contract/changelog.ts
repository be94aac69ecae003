/** The changelog of the contract: each release with its changes, the newest first. */
import { CONTRACT_VERSION } from './version.ts'

/** A release of the contract. */
export interface Release {
  readonly version: string
  readonly changes: readonly string[]
  /** The work that the release asks of integrators; null: none. */
  readonly required: string | null
}

export const CHANGELOG: readonly Release[] = [
  {
    version: CONTRACT_VERSION,
    changes: [
      'The first public draft: accounts, recipients, payments, exchange, incoming money, approvals, webhooks, sandbox.',
      'The member allowed of the problem invalid-transition lists the statuses in which the request is permitted.',
      'A job shows the same download link for a minute, so that reads of an ended job are answered with 304.',
      'Recipient reviews have kind and assignee, and are filtered by both and by olderThanHours.',
      'An annotation is read by its own address, GET /transactions/{transactionId}/annotations/{annotationId}.',
      'A step-up challenge and a second factor are read by their addresses, GET /step-up/challenges/{challengeId} and /users/me/mfa-factors/{factorId}.',
      'The closure of a balance, uploads, decisions on approvals and on suspense items take an Idempotency-Key.',
      'Payments that wait for the bank stay in the queue while the balance that pays them is frozen.',
      'A fee that is given back is one transaction of the whole amount, the tax within it included.',
      'Rows of a bulk payment are filtered by createdFrom and createdTo.',
      'Operators switch recalls off with the feature payments.recalls.',
      'The catalogue of simulations also tells the base rates and the rules of forwards, account details, jobs and webhooks.',
      'Staff manage the webhook endpoints of their operator, and no longer those of its customers.',
      'A customer has at most 100 balances that are not closed.',
      'An approval, review, funds request, first deposit or held rate has ended at its deadline, however late a timer is.',
      'Invitations of staff are read and accepted as those of members are; customerName and customerId are null in them.',
      'Staff without a second factor get mfa-required for everything that concerns a tenant, until they have added one.',
      'A second factor may be an authenticator of WebAuthn: kind webauthn, with the options for the browser in publicKey.',
      'Challenges list the methods that the person has, and take an assertion or a recovery code beside a code.',
      'Recovery codes are made with POST /users/me/recovery-codes; they sign in, and prove changes of settings and the end of a key.',
      'Sessions show mfaMethod, and decisions on approvals the method of their proof. Factors can be renamed.',
      'Operators make customers, change, restrict, suspend and rate them; a customer has the problems customer-restricted and customer-not-active wherever it uses money.',
      'A customer that was restricted before its closure is restricted again when the closure is withdrawn.',
      'The settings of an operator have apiKeyInvitationDomains; the first owner of a customer is its primary owner.',
      'The checks of /ready have operator, with a detail that says what to do where there is none.',
      'The link of a funds request leads to a page for its payer; GET /public/funds-requests/{token} reads the same with its token.',
      'Administrators manage the staff of their operator and its invitations, /operator/staff and /operator/staff-invitations, and its branding, /operator/branding.',
      'Staff read payments, transactions and balances with the customer as tenant, with exception, providerRef and connectionId; support impersonates customers, read only.',
      'GET /operator/statistics counts customers, what waits for people, and payments by status and currency.',
      'Customers fill in a KYB case, /customers/{customerId}/kyb, with persons, owners and documents, and submit it; requirements tell by pointers what is due, and onboarding.requirements_changed tells of changes.',
      'Documents of a KYB case are read with the case, and no longer at /documents.',
      'Operators connect banking partners, /provider-connections: verified by a live probe, activated, drained and retired; balances migrate to the next one, and health tells how each does.',
      'Banking partners send webhooks to /provider-webhooks/{connectionId}; staff read what partners tell at /provider-events, use events again after a preview, and dismiss those that match nothing.',
      'Staff route payments through connections by rules, /routing-rules, with a simulator; staff see routing of payments.',
    ],
    required: null,
  },
]
