/**
 * The operations that the contract adds to those of operations.ts, one a line: method, path, operationId (`-` where the
 * contract gives none), the permitted callers, the tenant, the status of success (`-` where the contract gives none), and
 * marks.
 *
 * Callers: `K:scope` a key with that scope, or a person with the capability of the scope; `S:capability` a signed-in
 * person, never a key; `O:capability` a person of the operator's staff; `P` anyone. Without a capability being signed in
 * is enough; of two, either is enough, and the second is that of staff for their customers. Tenants: C customer, O operator, A any, N none.
 *
 * Marks: `IK` an Idempotency-Key is required, `ik` it is honoured; `IM` If-Match is required; `SU:action` people need a
 * step-up proof; `flag:feature` the operator can switch it off; `list` it is paged; `etag` If-None-Match is honoured.
 */
import type { Method } from '../../../http/route/route.ts'
import { linesOf } from './table.ts'

/** One added operation. A member that is absent does not apply, or is left open by the contract. */
export interface AddedOperation {
  /** The operationId, or method and path where the contract gives none. */
  readonly name: string
  readonly id: string | null
  readonly method: Method
  readonly path: string
  readonly callers: 'public' | 'key' | 'session' | 'staff'
  /** The scope of `key`, any of the capabilities of `session` and `staff`; none: being signed in is enough. */
  readonly permissions: readonly string[]
  readonly tenant: 'customer' | 'operator' | 'any' | 'none'
  readonly success: number | null
  readonly idempotency: 'required' | 'optional' | null
  readonly ifMatch: boolean
  readonly stepUp: string | null
  readonly feature: string | null
  readonly list: boolean
  readonly conditional: boolean
}

const CALLERS = { K: 'key', S: 'session', O: 'staff', P: 'public' } as const
const TENANTS = { C: 'customer', O: 'operator', A: 'any', N: 'none' } as const

const OPERATIONS = `
  -- Payments, transfers, schedules and funds requests
  get /payments listPayments K:payments:read C 200 list
  post /payments createPayment K:payments:write C 201 IK SU:payment.above_threshold
  post /payments/validate validatePayment K:payments:write C 200
  get /payments/{paymentId} getPayment K:payments:read C 200 etag
  patch /payments/{paymentId} updatePayment K:payments:write C 200 IM
  delete /payments/{paymentId} deletePayment K:payments:write C 204 IM
  post /payments/{paymentId}/submit submitPayment K:payments:write C 200 IK SU:payment.above_threshold
  post /payments/{paymentId}/cancel cancelPayment K:payments:write C 200 ik
  post /payments/{paymentId}/recall requestPaymentRecall K:payments:write C 202 IK
  get /payments/{paymentId}/confirmation getPaymentConfirmation K:statements:read C 200
  get /payments/{paymentId}/updates listPaymentUpdates K:payments:read C 200 list
  get /incoming-payments listIncomingPayments K:transactions:read C 200 list
  get /incoming-payments/{incomingPaymentId} getIncomingPayment K:transactions:read C 200
  post /incoming-payments/{incomingPaymentId}/allocate allocateIncomingPayment S:payments.create C 200
  get /transfers listTransfers K:payments:read C 200 list
  get /transfers/{transferId} getTransfer K:payments:read C 200
  post /transfers createTransfer K:payments:write C 201 IK
  get /scheduled-payments listScheduledPayments K:payments:read C 200 list
  post /scheduled-payments createScheduledPayment K:payments:write C 201 IK SU:payment.above_threshold
  get /scheduled-payments/{scheduledPaymentId} getScheduledPayment K:payments:read C 200
  patch /scheduled-payments/{scheduledPaymentId} updateScheduledPayment K:payments:write C 200 IM
  post /scheduled-payments/{scheduledPaymentId}/pause pauseScheduledPayment K:payments:write C 200
  post /scheduled-payments/{scheduledPaymentId}/resume resumeScheduledPayment K:payments:write C 200
  post /scheduled-payments/{scheduledPaymentId}/cancel cancelScheduledPayment K:payments:write C 200 ik
  get /scheduled-payments/{scheduledPaymentId}/occurrences listScheduledPaymentOccurrences K:payments:read C 200 list
  get /funds-requests listFundsRequests K:payments:read C 200 list
  post /funds-requests createFundsRequest K:payments:write C 201 IK
  get /funds-requests/{fundsRequestId} getFundsRequest K:payments:read C 200
  patch /funds-requests/{fundsRequestId} updateFundsRequest K:payments:write C 200 IM
  post /funds-requests/{fundsRequestId}/cancel cancelFundsRequest K:payments:write C 200 ik
  post /funds-requests/{fundsRequestId}/remind remindFundsRequest K:payments:write C 200
  get /public/funds-requests/{token} getPublicFundsRequest P N 200
  post /public/funds-requests/{token}/decline declinePublicFundsRequest P N 200

  -- Direct debits, bulk payments, approvals and exchanges
  get /mandates listMandates K:payments:read C 200 list flag:payments.direct_debits
  patch /mandates/{mandateId} updateMandate K:payments:write C 200 IM
  post /mandates/{mandateId}/status-reports reportMandateStatus O:operations.manage O 200
  get /mandates/{mandateId}/document - K:payments:read C 200
  post /collections/{collectionId}/reverse reverseCollection K:payments:write C 200 IK SU:payment.above_threshold
  post /collections/{collectionId}/status-reports reportCollectionStatus O:operations.manage O 200
  get /collection-files listCollectionFiles O:operations.manage O 200 list
  get /collection-files/{fileId}/download downloadCollectionFile O:operations.manage O 200
  post /collection-files/responses - O:operations.manage O 202
  post /collection-files/responses/{jobId}/apply - O:operations.manage O 200
  get /incoming-debits - K:payments:read C 200 list
  get /incoming-debits/{incomingDebitId} - K:payments:read C 200
  post /incoming-debits/{incomingDebitId}/refuse - K:payments:write C 200
  post /incoming-debits/{incomingDebitId}/refund - K:payments:write C 200
  get /balances/{balanceId}/debit-controls - S:balances.manage C 200
  put /balances/{balanceId}/debit-controls - S:balances.manage C 200 IM
  post /simulations/mandates/{mandateId}/status - K:payments:write C 202
  get /bulk-payments/templates/{format} downloadBulkTemplate K:payments:read C 200
  post /bulk-payments/{bulkPaymentId}/revalidate revalidateBulkPayment K:payments:write C 202
  get /bulk-payments/{bulkPaymentId}/report downloadBulkReport K:payments:read C 200
  post /approvals/{approvalId}/decisions decideApproval S:approvals.decide C 200 SU:approval.decide
  post /approvals/{approvalId}/remind remindApprovers S:payments.create C 202
  get /exchanges/rates getIndicativeRates K:exchanges:read C 200
  post /exchanges/{exchangeId}/cancel cancelExchange K:exchanges:write C 200 ik
  get /forward-contracts listForwardContracts K:exchanges:read C 200 list flag:exchange.forwards
  post /forward-contracts createForwardContract K:exchanges:write C 201 IK SU:exchange.above_threshold flag:exchange.forwards
  get /forward-contracts/{exchangeId} getForwardContract K:exchanges:read C 200
  post /forward-contracts/{exchangeId}/deposit payForwardDeposit K:exchanges:write C 200 IK
  get /forward-contracts/{exchangeId}/drawdowns listForwardDrawdowns K:exchanges:read C 200 list
  post /forward-contracts/{exchangeId}/drawdowns createForwardDrawdown K:exchanges:write C 201 IK
  get /held-rates listHeldRates K:exchanges:read C 200 list flag:exchange.held_rates
  get /held-rates/{exchangeId} getHeldRate K:exchanges:read C 200 flag:exchange.held_rates
  post /held-rates createHeldRate K:exchanges:write C 201 IK flag:exchange.held_rates
  get /held-rates/{exchangeId}/drawdowns listHeldRateDrawdowns K:exchanges:read C 200 list
  post /held-rates/{exchangeId}/drawdowns createHeldRateDrawdown K:exchanges:write C 201 IK
  post /held-rates/{exchangeId}/cancel cancelHeldRate K:exchanges:write C 200 ik

  -- Accounts, recipients, activity, jobs and documents
  post /balances openBalance S:balances.manage C 201
  patch /balances/{balanceId} updateBalance S:balances.manage C 200 IM
  post /balances/{balanceId}/close closeBalance S:balances.manage C 200
  post /balances/{balanceId}/details requestAccountDetails S:balances.manage C 202
  put /customers/{customerId}/settings/currencies updateCustomerCurrencies S:settings.manage C 200 IM
  get /recipients/{recipientId}/approval getRecipientApproval K:recipients:read C 200
  get /recipients/lookups/iban lookupIban K:recipients:read C 200
  get /recipients/lookups/bank lookupBank K:recipients:read C 200
  patch /transactions/{transactionId} updateTransaction S:transactions.annotate C 200 IM
  post /transactions/{transactionId}/annotations createAnnotation S:transactions.annotate C 201
  patch /transactions/{transactionId}/annotations/{annotationId} updateAnnotation S:transactions.annotate C 200 IM
  delete /transactions/{transactionId}/annotations/{annotationId} deleteAnnotation S:transactions.annotate C 204 IM
  post /transactions/{transactionId}/attachments uploadTransactionAttachment S:transactions.annotate C 201
  delete /attachments/{attachmentId} deleteAttachment S:transactions.annotate C 204 IM
  post /documents uploadDocument K:payments:write C 201
  get /documents listDocuments S C 200 list
  get /documents/{documentId} getDocument K:payments:read C 200
  get /documents/{documentId}/download downloadDocument K:payments:read C 200
  delete /documents/{documentId} deleteDocument S C 204
  get /jobs listJobs K:transactions:read A 200 list
  post /jobs/{jobId}/cancel cancelJob K:transactions:read A 200 ik
  get /balances/{balanceId}/statements/{statementId} getStatement K:statements:read C 200
  get /card-transactions - K:transactions:read C 200 list
  get /card-transactions/{cardTransactionId} - K:transactions:read C 200
  get /events - K:webhooks:read C 200
  get /events/stream - K:webhooks:read C 200

  -- Sessions, proofs, people and API keys
  post /sessions createSession P N 201
  get /sessions listSessions S N 200 list
  get /sessions/current getCurrentSession S N 200
  delete /sessions/current deleteCurrentSession S N 204
  delete /sessions/{sessionId} revokeSession S N 204
  post /sessions/current/mfa verifySessionMfa S N 200
  post /sessions/current/refresh refreshSession S N 200
  post /step-up/challenges createStepUpChallenge S A 201
  post /step-up/challenges/{challengeId}/verify verifyStepUpChallenge S A 200
  get /users/me - S N 200
  patch /users/me - S N 200 IM
  post /users/me/password changePassword S N -
  get /users/me/mfa-factors - S N 200
  post /users/me/mfa-factors - S N 201
  delete /users/me/mfa-factors/{factorId} - S N 204
  post /password-resets requestPasswordReset P N 202
  post /password-resets/{token} completePasswordReset P N -
  get /customers/{customerId}/memberships - S:members.read C 200 list
  get /customers/{customerId}/memberships/{membershipId} - S:members.read C 200
  patch /customers/{customerId}/memberships/{membershipId} - S:members.manage C 200 IM SU:membership.change
  delete /customers/{customerId}/memberships/{membershipId} - S:members.manage C 204 IM SU:membership.change
  get /customers/{customerId}/invitations - S:members.manage C 200 list
  post /customers/{customerId}/invitations - S:members.manage C 201 SU:membership.change
  delete /customers/{customerId}/invitations/{invitationId} - S:members.manage C 204 SU:membership.change
  post /customers/{customerId}/invitations/{invitationId}/resend - S:members.manage C - SU:membership.change
  get /invitations/{token} getInvitation P N 200
  post /invitations/{token}/accept acceptInvitation P N -
  get /customers/{customerId}/teams - S:members.manage C 200 list
  post /customers/{customerId}/teams - S:members.manage C 201 SU:membership.change
  patch /customers/{customerId}/teams/{teamId} - S:members.manage C 200 IM SU:membership.change
  delete /customers/{customerId}/teams/{teamId} - S:members.manage C 204 IM
  put /customers/{customerId}/primary-owner transferPrimaryOwner S:owner C 200 SU:membership.change
  post /customers/{customerId}/closure requestClosure S:owner C 200 SU:membership.change
  delete /customers/{customerId}/closure withdrawClosure S:owner C 204 SU:membership.change
  get /api-keys listApiKeys S:api_keys.manage C 200 list
  get /api-keys/{apiKeyId} getApiKey S:api_keys.manage C 200
  patch /api-keys/{apiKeyId} updateApiKey S:api_keys.manage C 200 IM
  get /api-keys/{apiKeyId}/requests listApiKeyRequests S:api_keys.manage C 200
  get /api-keys/{apiKeyId}/usage getApiKeyUsage S:api_keys.manage C 200
  get /operator/api-keys - O:integration.manage O 200 list
  post /operator/api-keys - O:integration.manage O 201 SU:api_key.create
  patch /operator/api-keys/{apiKeyId} - O:integration.manage O 200 IM SU:api_key.create
  delete /operator/api-keys/{apiKeyId} - O:integration.manage O 204 SU:api_key.revoke
  post /operator/api-keys/{apiKeyId}/rotate - O:integration.manage O 201 SU:api_key.create
  get /notifications - S A 200 list
  post /notifications/{notificationId}/read - S A 200
  get /notification-preferences - S A 200
  put /notification-preferences - S A 200

  -- Customer settings
  get /customers/{customerId}/settings/addresses - S:settings.manage/customers.manage A 200
  post /customers/{customerId}/settings/addresses - S:settings.manage/customers.manage A 201
  patch /customers/{customerId}/settings/addresses/{addressId} - S:settings.manage/customers.manage A 200 IM
  delete /customers/{customerId}/settings/addresses/{addressId} - S:settings.manage/customers.manage A 204 IM
  get /customers/{customerId}/settings/alerts - S:settings.manage C 200
  put /customers/{customerId}/settings/alerts - S:settings.manage C 200 IM
  get /customers/{customerId}/settings/approved-domains - S:settings.manage C 200
  put /customers/{customerId}/settings/approved-domains - S:settings.manage C 200 IM SU:settings.change
  get /customers/{customerId}/settings/approval-policies - S:settings.read C 200
  get /customers/{customerId}/settings/approval-policies/{kind} - S:settings.read C 200
  put /customers/{customerId}/settings/approval-policies/{kind} - S:settings.manage C 200 IM SU:settings.change
  get /customers/{customerId}/settings/limits - S:settings.read/customers.manage A 200
  put /customers/{customerId}/settings/limits - O:customers.manage A 200
  get /customers/{customerId}/settings/preferences - S:settings.manage C 200
  patch /customers/{customerId}/settings/preferences - S:settings.manage C 200 IM

  -- Onboarding
  patch /customers/{customerId}/kyb updateKybCase S:onboarding.write/onboarding.review A 200 IM
  get /customers/{customerId}/kyb/persons - S:onboarding.write/onboarding.review A 200
  post /customers/{customerId}/kyb/persons - S:onboarding.write/onboarding.review A 201
  patch /customers/{customerId}/kyb/persons/{personId} - S:onboarding.write/onboarding.review A 200 IM
  delete /customers/{customerId}/kyb/persons/{personId} - S:onboarding.write/onboarding.review A 204 IM
  get /customers/{customerId}/kyb/documents - S:onboarding.write/onboarding.review A 200
  post /customers/{customerId}/kyb/documents - S:onboarding.write/onboarding.review A 201
  delete /customers/{customerId}/kyb/documents/{documentId} - S:onboarding.write/onboarding.review A 204
  get /customers/{customerId}/kyb/documents/{documentId}/download - S:onboarding.write/onboarding.review A 200
  post /customers/{customerId}/kyb/submit submitKybCase S:onboarding.write C 200
  post /customers/{customerId}/kyb/withdraw withdrawKybCase S:onboarding.write/onboarding.review A 200
  post /customers/{customerId}/kyb/sdk-tokens createKycSdkToken S:onboarding.write C 201
  get /kyb-cases listKybCases O:onboarding.review O 200 list
  post /kyb-cases/{caseId}/assign - O:onboarding.review O -
  post /kyb-cases/{caseId}/request-info - O:onboarding.review O -
  post /kyb-cases/{caseId}/approve - O:onboarding.review O -
  post /kyb-cases/{caseId}/reject - O:onboarding.review O -
  post /kyb-cases/{caseId}/reopen - O:onboarding.review O -
  post /kyb-cases/{caseId}/notes - O:onboarding.review O -
  patch /customers/{customerId} updateCustomer S:settings.manage/customers.manage A 200 IM
  post /customers/{customerId}/restrict - O:customers.manage O -
  post /customers/{customerId}/suspend - O:customers.manage O -
  post /customers/{customerId}/lift - O:customers.manage O -
  post /customers/{customerId}/risk - O:customers.manage O -
  post /customers/{customerId}/resend-invitation - O:customers.manage O -

  -- Operators and providers
  get /operator - O:operator.manage O 200
  patch /operator - O:operator.manage O 200 IM
  get /operator/settings - O:operator.manage O 200
  patch /operator/settings - O:operator.manage O 200 IM
  get /operator/feature-flags - O:operator.manage O 200
  patch /operator/feature-flags - O:operator.manage O 200 IM
  get /operator/branding - O:operator.manage O 200
  patch /operator/branding - O:operator.manage O 200 IM
  get /operator/staff - O:operator.manage O 200
  patch /operator/staff/{staffId} - O:operator.manage O 200 IM SU:membership.change
  delete /operator/staff/{staffId} - O:operator.manage O 204 IM SU:membership.change
  get /operator/staff-invitations - O:operator.manage O 200
  post /operator/staff-invitations - O:operator.manage O 201 SU:membership.change
  get /pricing-templates - O:pricing.manage O 200 list
  post /pricing-templates - O:pricing.manage O 201
  get /pricing-templates/{templateId} - O:pricing.manage O 200
  patch /pricing-templates/{templateId} - O:pricing.manage O 200 IM
  delete /pricing-templates/{templateId} - O:pricing.manage O 204 IM
  post /provider-connections createProviderConnection O:providers.manage O 201 SU:provider_connection.change
  patch /provider-connections/{connectionId} - O:providers.manage O 200 IM
  delete /provider-connections/{connectionId} - O:providers.manage O 204 IM
  put /provider-connections/{connectionId}/credentials - O:providers.manage O 204 SU:provider_connection.change
  put /provider-connections/{connectionId}/webhook-secret - O:providers.manage O 204 SU:provider_connection.change
  post /provider-connections/{connectionId}/verify - O:providers.manage O -
  post /provider-connections/{connectionId}/activate - O:providers.manage O - SU:provider_connection.change
  post /provider-connections/{connectionId}/drain - O:providers.manage O - SU:provider_connection.change
  post /provider-connections/{connectionId}/retire - O:providers.manage O - SU:provider_connection.change
  post /provider-connections/{connectionId}/health-check - O:providers.manage O -
  post /provider-connections/{connectionId}/migrate - O:providers.manage O -
  get /routing-rules - O:providers.manage O 200
  post /routing-rules - O:providers.manage O 201
  put /routing-rules/{ruleId} - O:providers.manage O 200 IM
  delete /routing-rules/{ruleId} - O:providers.manage O 204 IM
  post /routing-rules/simulate - O:providers.manage O 200
  get /kyc-connections - O:providers.manage O 200
  post /kyc-connections - O:providers.manage O 201
  patch /kyc-connections/{connectionId} - O:providers.manage O 200 IM
  post /kyc-connections/{connectionId}/verify - O:providers.manage O -
  post /provider-webhooks/{connectionId} - P N 202
  post /kyc-webhooks/{connectionId} - P N 202
  get /provider-events - O:providers.read O 200 list
  get /provider-events/{eventId} - O:providers.read O 200
  post /provider-events/{eventId}/reprocess - O:operations.manage O -
  get /compliance-holds listComplianceHolds O:compliance.manage O 200 list
  get /compliance-holds/{holdId} - O:compliance.manage O 200
  post /compliance-holds/{holdId}/release - O:compliance.manage O 200
  post /compliance-holds/{holdId}/block - O:compliance.manage O 200
  post /compliance-holds/{holdId}/notes - O:compliance.manage O 201
  get /compliance-holds/{holdId}/questions - O:compliance.manage O 200
  post /compliance-holds/{holdId}/questions - O:compliance.manage O 201
  get /payments/{paymentId}/questions - S C 200
  post /payments/{paymentId}/questions/{questionId}/answers - S C 201
  get /recipient-reviews listRecipientReviews O:compliance.manage O 200 list
  post /recipient-reviews/{reviewId}/approve - O:compliance.manage O 200
  post /recipient-reviews/{reviewId}/reject - O:compliance.manage O 200
  get /exceptions listExceptions O:operations.manage O 200 list
  get /exceptions/{exceptionId} - O:operations.manage O 200
  post /exceptions/{exceptionId}/resolve - O:operations.manage O 200
  get /incoming-suspense - O:operations.manage O 200 list
  post /incoming-suspense/{itemId}/allocate - O:operations.manage O -
  post /incoming-suspense/{itemId}/return - O:operations.manage O -
  get /reconciliations - K:treasury:read O 200 list
  post /reconciliations - K:treasury:read O -
  get /reconciliations/{reconciliationId} - K:treasury:read O 200
  get /reconciliations/{reconciliationId}/breaks - K:treasury:read O 200 list
  get /ledger/accounts - O:treasury.read O 200
  get /ledger/entries - O:treasury.read O 200
  get /ledger/trial-balance - O:treasury.read O 200
  post /ledger/adjustments - O:treasury.manage O 202
  get /reports - K:reports:read O 200
  post /reports - O:reports.read O -
  get /reports/{reportId}/download - K:reports:read O 200
  get /operator/statistics - O:audit.read O 200
  get /audit-events listAuditEvents S:audit.read A 200 list
  post /impersonations - O:support.impersonate O 201
  delete /impersonations/current - O:support.impersonate O 204

  -- Developers, the sandbox and cards
  post /developer/registrations registerDeveloper P N 202
  post /developer/registrations/{registrationId}/verify - P N 200
  post /developer/registrations/{registrationId}/resend - P N -
  post /developer/workspace/keys - S:developer C 201
  post /developer/workspace/reset - S:developer C -
  get /developer/workspaces - O:developer.manage O 200
  post /developer/workspaces/{registrationId}/approve - O:developer.manage O -
  post /developer/workspaces/{registrationId}/reject - O:developer.manage O -
  post /developer/workspaces/{registrationId}/suspend - O:developer.manage O -
  post /developer/workspaces/{registrationId}/extend - O:developer.manage O -
  post /developer/workspaces/{registrationId}/delete - O:developer.manage O -
  get /platform/developer-settings - O N 200
  put /platform/developer-settings - O N 200
  post /sandbox/clock - K:payments:write C -
  get /sandbox/clock - K:payments:write C 200
  post /sandbox/clock/reset - K:payments:write C -
  get /cards - S:cards.manage/cards.own C 200 list
  post /cards - S:cards.manage C 201 SU:card.manage
  get /cards/{cardId} - S:cards.manage/cards.own C 200
  post /cards/{cardId}/freeze - S:cards.manage/cards.own C - SU:card.manage
  post /cards/{cardId}/unfreeze - S:cards.manage/cards.own C - SU:card.manage
  post /cards/{cardId}/close - S:cards.manage/cards.own C - SU:card.manage
  patch /cards/{cardId}/limits - S:cards.manage C 200 IM SU:card.manage
  patch /cards/{cardId}/controls - S:cards.manage C 200 IM SU:card.manage
`

/** Reads one line. */
function operationOf(line: string): AddedOperation {
  const [method = '', path = '', id = '', callers = '', tenant = '', success = '', ...marks] = line.split(/\s+/)
  const after = (prefix: string): string | null =>
    marks.find((mark) => mark.startsWith(prefix))?.slice(prefix.length) ?? null
  return {
    name: id === '-' ? `${method} ${path}` : id,
    id: id === '-' ? null : id,
    method: method as Method,
    path,
    callers: CALLERS[callers.charAt(0) as keyof typeof CALLERS],
    permissions: callers.length > 1 ? callers.slice(2).split('/') : [],
    tenant: TENANTS[tenant as keyof typeof TENANTS],
    success: success === '-' ? null : Number(success),
    idempotency: marks.includes('IK') ? 'required' : marks.includes('ik') ? 'optional' : null,
    ifMatch: marks.includes('IM'),
    stepUp: after('SU:'),
    feature: after('flag:'),
    list: marks.includes('list'),
    conditional: marks.includes('etag'),
  }
}

export const ADDED_OPERATIONS: readonly AddedOperation[] = linesOf(OPERATIONS).map(operationOf)
