/** The table of all operations. */
import { openapiAnswer } from '../openapi.ts'
import type { Route } from '../route.ts'
import * as accountDetails from './account-details.ts'
import * as apiKeyRequests from './api-key-requests.ts'
import { apiKeyRoutes } from './api-keys.ts'
import * as approvalPolicies from './approval-policies.ts'
import * as approvals from './approvals.ts'
import * as attachments from './attachments.ts'
import { listAuditEvents } from './audit-events.ts'
import * as bankLookups from './bank-lookups.ts'
import * as balanceChanges from './balance-changes.ts'
import * as balances from './balances.ts'
import * as bulkPayments from './bulk-payments.ts'
import * as bulkReports from './bulk-reports.ts'
import * as bulkSubmissions from './bulk-submissions.ts'
import * as complianceHolds from './compliance-holds.ts'
import * as connectionCalendars from './connection-calendars.ts'
import * as contracts from './contracts.ts'
import * as currencies from './currencies.ts'
import * as customerLife from './customer-life.ts'
import * as customerSettings from './customer-settings.ts'
import * as documents from './documents.ts'
import { downloadFile } from './downloads.ts'
import { exportTransactions } from './exports.ts'
import * as fundsRequests from './funds-requests.ts'
import * as exceptions from './exceptions.ts'
import { cancelExchange } from './exchange-cancel.ts'
import { getExchangeConfirmation } from './exchange-confirmation.ts'
import * as exchanges from './exchanges.ts'
import { getHealth, getReady } from './health.ts'
import { getIntegrationHome, getOperatorApiUsage, listOperatorApiKeyRequests } from './integration.ts'
import * as incomingPayments from './incoming-payments.ts'
import * as incomingSimulations from './incoming-simulations.ts'
import * as incomingSuspense from './incoming-suspense.ts'
import * as integratorWebhooks from './integrator-webhooks.ts'
import * as invitations from './invitations.ts'
import * as jobs from './jobs.ts'
import * as members from './members.ts'
import * as notifications from './notifications.ts'
import { openapiRoute } from './openapi.ts'
import * as operator from './operator.ts'
import { operatorApiKeyRoutes } from './operator-api-keys.ts'
import * as passwordResets from './password-resets.ts'
import * as paymentOutcomes from './payment-outcomes.ts'
import * as paymentSimulations from './payment-simulations.ts'
import { getPaymentConfirmation } from './payment-confirmation.ts'
import * as payments from './payments.ts'
import * as pricingTemplates from './pricing-templates.ts'
import * as publicFundsRequests from './public-funds-requests.ts'
import * as recipientReviews from './recipient-reviews.ts'
import * as recipients from './recipients.ts'
import * as scheduledPayments from './scheduled-payments.ts'
import * as sessions from './sessions.ts'
import * as statements from './statements.ts'
import * as stepUp from './step-up.ts'
import * as transactions from './transactions.ts'
import * as transfers from './transfers.ts'
import * as treasury from './treasury.ts'
import * as users from './users.ts'
import * as webhookSimulations from './webhook-simulations.ts'

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
  ...Object.values(pricingTemplates),
  ...Object.values(connectionCalendars),
  listAuditEvents,
  ...Object.values(balances),
  ...Object.values(balanceChanges),
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
  ...Object.values(incomingPayments),
  ...Object.values(incomingSuspense),
  ...Object.values(incomingSimulations),
  ...Object.values(bulkPayments),
  ...Object.values(bulkReports),
  ...Object.values(bulkSubmissions),
  ...Object.values(scheduledPayments),
  ...Object.values(complianceHolds),
  ...Object.values(exceptions),
  ...Object.values(treasury),
  ...Object.values(fundsRequests),
  ...Object.values(publicFundsRequests),
  ...Object.values(approvals),
  ...Object.values(approvalPolicies),
  ...Object.values(currencies),
  ...Object.values(customerSettings),
  ...Object.values(customerLife),
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
