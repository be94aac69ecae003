/** The route table: all operations, and the pages for people. */
import { openapiAnswer } from '../openapi/openapi.ts'
import type { Page } from '../pages/page.ts'
import type { Route } from '../route/route.ts'
import * as accountDetails from '../accounts/account-details.ts'
import * as adjustments from '../adjustments/adjustments.ts'
import * as apiKeyRequests from '../integration/api-key-requests.ts'
import { apiKeyRoutes } from '../identity/api-keys.ts'
import * as approvalPolicies from '../approvals/approval-policies.ts'
import * as approvals from '../approvals/approvals.ts'
import * as attachments from '../documents/attachments.ts'
import { listAuditEvents } from '../identity/audit-events.ts'
import * as bankLookups from '../recipients/bank-lookups.ts'
import * as balanceChanges from '../balances/balance-changes.ts'
import * as balances from '../balances/balances.ts'
import * as branding from '../branding/branding.ts'
import * as bulkPayments from '../bulk-payments/bulk-payments.ts'
import * as bulkReports from '../bulk-payments/bulk-reports.ts'
import * as bulkSubmissions from '../bulk-payments/bulk-submissions.ts'
import * as collectionFiles from '../direct-debits/collection-files.ts'
import * as collectionResponses from '../direct-debits/collection-responses.ts'
import * as caseReviews from '../onboarding/case-reviews.ts'
import * as cardMessages from '../cards/card-messages.ts'
import * as cards from '../cards/cards.ts'
import * as cardSimulations from '../cards/card-simulations.ts'
import * as cardTransactions from '../cards/card-transactions.ts'
import * as complianceHolds from '../compliance/compliance-holds.ts'
import * as connectionCalendars from '../providers/connection-calendars.ts'
import * as providerEvents from '../providers/provider-events.ts'
import * as contracts from '../exchange/contracts.ts'
import * as currencies from '../customers/currencies.ts'
import * as customerLife from '../customers/customer-life.ts'
import * as customers from '../customers/customers.ts'
import * as customerSettings from '../customers/customer-settings.ts'
import * as debitSimulations from '../direct-debits/debit-simulations.ts'
import { getMandateDocument } from '../direct-debits/mandate-document.ts'
import * as documents from '../documents/documents.ts'
import { downloadFile } from '../documents/downloads.ts'
import { exportTransactions } from '../transactions/exports.ts'
import * as fundsRequests from '../funds-requests/funds-requests.ts'
import * as paymentQuestions from '../compliance/payment-questions.ts'
import * as exceptions from '../compliance/exceptions.ts'
import { cancelExchange } from '../exchange/exchange-cancel.ts'
import { getExchangeConfirmation } from '../exchange/exchange-confirmation.ts'
import * as exchanges from '../exchange/exchanges.ts'
import { getHealth, getReady } from './health.ts'
import { getIntegrationHome, getOperatorApiUsage, listOperatorApiKeyRequests } from '../integration/integration.ts'
import * as impersonations from '../impersonations/impersonations.ts'
import * as collections from '../direct-debits/collections.ts'
import * as mandates from '../direct-debits/mandates.ts'
import * as debitControls from '../incoming-debits/debit-controls.ts'
import * as incomingDebits from '../incoming-debits/incoming-debits.ts'
import * as incomingPayments from '../incoming-payments/incoming-payments.ts'
import * as incomingSimulations from '../incoming-payments/incoming-simulations.ts'
import * as incomingSuspense from '../incoming-payments/incoming-suspense.ts'
import * as integratorWebhooks from '../integration/integrator-webhooks.ts'
import * as invitations from '../identity/invitations.ts'
import * as jobs from '../jobs/jobs.ts'
import * as providerConnections from '../providers/provider-connections.ts'
import * as kycConnections from '../kyc/kyc-connections.ts'
import * as kycReviews from '../kyc/kyc-reviews.ts'
import * as ledger from '../ledger/ledger.ts'
import * as members from '../identity/members.ts'
import * as notifications from '../notices/notifications.ts'
import * as kybCases from '../onboarding/kyb-cases.ts'
import * as kybDocuments from '../onboarding/kyb-documents.ts'
import * as kybPersons from '../onboarding/kyb-persons.ts'
import { openapiRoute } from './document.ts'
import * as operator from '../operators/operator.ts'
import { operatorApiKeyRoutes } from '../identity/operator-api-keys.ts'
import { invitationPage } from '../identity/invitation-page.ts'
import { passwordRequestPage, passwordResetPage } from '../identity/password-reset-pages.ts'
import * as passwordResets from '../identity/password-resets.ts'
import { payerPage } from '../funds-requests/payer-page.ts'
import * as paymentOutcomes from '../payments/payment-outcomes.ts'
import * as paymentSimulations from '../payments/payment-simulations.ts'
import { getPaymentConfirmation } from '../payments/payment-confirmation.ts'
import * as payments from '../payments/payments.ts'
import { getOperatorStatistics } from '../statistics/statistics.ts'
import * as pricingTemplates from '../pricing/pricing-templates.ts'
import * as publicFundsRequests from '../funds-requests/public-funds-requests.ts'
import * as recipientReviews from '../recipients/recipient-reviews.ts'
import * as recipients from '../recipients/recipients.ts'
import * as reports from '../reports/reports.ts'
import * as routingRules from '../providers/routing-rules.ts'
import * as scheduledPayments from '../scheduled-payments/scheduled-payments.ts'
import * as sessions from '../identity/sessions.ts'
import * as staff from '../staff/staff.ts'
import * as staffHolds from '../balances/staff-holds.ts'
import * as statements from '../statements/statements.ts'
import * as stepUp from '../identity/step-up.ts'
import * as transactions from '../transactions/transactions.ts'
import * as transfers from '../transfers/transfers.ts'
import * as treasury from '../reconciliation/treasury.ts'
import * as users from '../identity/users.ts'
import * as webhookSimulations from '../webhooks/webhook-simulations.ts'

export const routes: readonly Route[] = [
  getHealth,
  getReady,
  openapiRoute(() => openapiAnswer(routes)),
  ...Object.values(sessions),
  ...Object.values(stepUp),
  ...Object.values(users),
  ...Object.values(passwordResets),
  ...apiKeyRoutes,
  ...operatorApiKeyRoutes,
  ...Object.values(operator),
  getOperatorStatistics,
  ...Object.values(branding),
  ...Object.values(staff),
  ...Object.values(impersonations),
  ...Object.values(pricingTemplates),
  ...Object.values(connectionCalendars),
  ...Object.values(providerConnections),
  ...Object.values(providerEvents),
  ...Object.values(routingRules),
  ...Object.values(kycConnections),
  ...Object.values(kycReviews),
  listAuditEvents,
  ...Object.values(balances),
  ...Object.values(balanceChanges),
  ...Object.values(staffHolds),
  ...Object.values(accountDetails),
  ...Object.values(statements),
  ...Object.values(jobs),
  exportTransactions,
  ...Object.values(recipients),
  ...Object.values(bankLookups),
  ...Object.values(recipientReviews),
  ...Object.values(payments),
  getPaymentConfirmation,
  getExchangeConfirmation,
  cancelExchange,
  ...Object.values(paymentOutcomes),
  ...Object.values(transfers),
  ...Object.values(exchanges),
  ...Object.values(contracts),
  ...Object.values(mandates),
  ...Object.values(collections),
  ...Object.values(incomingDebits),
  ...Object.values(debitControls),
  ...Object.values(incomingPayments),
  ...Object.values(incomingSuspense),
  ...Object.values(incomingSimulations),
  ...Object.values(bulkPayments),
  ...Object.values(bulkReports),
  ...Object.values(bulkSubmissions),
  ...Object.values(debitSimulations),
  getMandateDocument,
  ...Object.values(scheduledPayments),
  ...Object.values(collectionFiles),
  ...Object.values(collectionResponses),
  ...Object.values(caseReviews),
  ...Object.values(complianceHolds),
  ...Object.values(paymentQuestions),
  ...Object.values(exceptions),
  ...Object.values(treasury),
  ...Object.values(ledger),
  ...Object.values(adjustments),
  ...Object.values(cardMessages),
  ...Object.values(cards),
  ...Object.values(cardTransactions),
  ...Object.values(cardSimulations),
  ...Object.values(reports),
  ...Object.values(fundsRequests),
  ...Object.values(publicFundsRequests),
  ...Object.values(approvals),
  ...Object.values(approvalPolicies),
  ...Object.values(currencies),
  ...Object.values(customers),
  ...Object.values(customerSettings),
  ...Object.values(customerLife),
  ...Object.values(kybCases),
  ...Object.values(kybPersons),
  ...Object.values(kybDocuments),
  ...Object.values(members),
  ...Object.values(invitations),
  ...Object.values(notifications),
  ...Object.values(apiKeyRequests),
  ...Object.values(integratorWebhooks),
  ...Object.values(webhookSimulations),
  ...Object.values(paymentSimulations),
  ...Object.values(transactions),
  ...Object.values(attachments),
  ...Object.values(documents),
  downloadFile,
  getIntegrationHome,
  listOperatorApiKeyRequests,
  getOperatorApiUsage,
]

/** The pages that the links of mails lead to. */
export const pages: readonly Page[] = [invitationPage, passwordRequestPage, passwordResetPage, payerPage]
