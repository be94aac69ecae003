/**
 * The operations that the contract names, as facts to hold declarations and answers against. This table is not made from
 * the code: it is what the code is measured by.
 */
import type { Method, Tag } from '../../http/route/route.ts'

/** What is said of one operation. What is absent does not apply. */
export interface ContractOperation {
  readonly id: string
  readonly method: Method
  readonly path: string
  readonly tag: Tag
  /** `simulation`: a test key, or a session in a developer sandbox. */
  readonly callers: 'public' | 'key' | 'session' | 'simulation'
  /** The scope of keys. */
  readonly scope?: string
  /** Whose id `X-Tenant-Id` is. */
  readonly tenant?: 'customer' | 'operator' | 'any'
  readonly success: 200 | 201 | 202 | 204
  readonly idempotency?: 'required' | 'optional'
  readonly ifMatch?: true
  /** `If-None-Match` is honoured. */
  readonly conditional?: true
  /** Takes cursor, limit, sort and filter. */
  readonly list?: true
  readonly q?: true
  readonly withTotal?: true
  /** `filter[id]` and `filter[metadata.<key>]`. */
  readonly idAndMetadata?: true
  /** What people must prove themselves for. */
  readonly stepUp?: string
  readonly feature?: string
  readonly sandboxOnly?: true
  /** Other than JSON. */
  readonly contentType?: string
}

export const CONTRACT: readonly ContractOperation[] = [
  { id: 'addMoney', method: 'post', path: '/add-money', tag: 'payments', callers: 'key', scope: 'payments:write', tenant: 'customer', success: 200, idempotency: 'required' },
  { id: 'listApprovals', method: 'get', path: '/approvals', tag: 'payments', callers: 'key', scope: 'payments:read', tenant: 'any', success: 200, conditional: true, list: true, withTotal: true },
  { id: 'getApproval', method: 'get', path: '/approvals/{approvalId}', tag: 'payments', callers: 'key', scope: 'payments:read', tenant: 'any', success: 200 },
  { id: 'listBulkPayments', method: 'get', path: '/bulk-payments', tag: 'payments', callers: 'key', scope: 'payments:read', tenant: 'customer', success: 200, list: true, withTotal: true },
  { id: 'createBulkPayment', method: 'post', path: '/bulk-payments', tag: 'payments', callers: 'key', scope: 'payments:write', tenant: 'customer', success: 202, idempotency: 'required' },
  { id: 'getBulkPayment', method: 'get', path: '/bulk-payments/{bulkPaymentId}', tag: 'payments', callers: 'key', scope: 'payments:read', tenant: 'customer', success: 200 },
  { id: 'cancelBulkPayment', method: 'post', path: '/bulk-payments/{bulkPaymentId}/cancel', tag: 'payments', callers: 'key', scope: 'payments:write', tenant: 'customer', success: 200, idempotency: 'optional' },
  { id: 'listBulkPaymentRows', method: 'get', path: '/bulk-payments/{bulkPaymentId}/rows', tag: 'payments', callers: 'key', scope: 'payments:read', tenant: 'customer', success: 200, list: true, withTotal: true },
  { id: 'submitBulkPayment', method: 'post', path: '/bulk-payments/{bulkPaymentId}/submit', tag: 'payments', callers: 'key', scope: 'payments:write', tenant: 'customer', success: 202, idempotency: 'required', stepUp: 'payment.above_threshold' },
  { id: 'listCollections', method: 'get', path: '/collections', tag: 'payments', callers: 'key', scope: 'payments:read', tenant: 'customer', success: 200, list: true, withTotal: true, feature: 'payments.direct_debits' },
  { id: 'createCollection', method: 'post', path: '/collections', tag: 'payments', callers: 'key', scope: 'payments:write', tenant: 'customer', success: 201, idempotency: 'required', feature: 'payments.direct_debits' },
  { id: 'getCollection', method: 'get', path: '/collections/{collectionId}', tag: 'payments', callers: 'key', scope: 'payments:read', tenant: 'customer', success: 200, feature: 'payments.direct_debits' },
  { id: 'cancelCollection', method: 'post', path: '/collections/{collectionId}/cancel', tag: 'payments', callers: 'key', scope: 'payments:write', tenant: 'customer', success: 200, idempotency: 'optional', feature: 'payments.direct_debits' },
  { id: 'createMandate', method: 'post', path: '/mandates', tag: 'payments', callers: 'key', scope: 'payments:write', tenant: 'customer', success: 201, idempotency: 'required', feature: 'payments.direct_debits' },
  { id: 'getMandate', method: 'get', path: '/mandates/{mandateId}', tag: 'payments', callers: 'key', scope: 'payments:read', tenant: 'customer', success: 200, feature: 'payments.direct_debits' },
  { id: 'cancelMandate', method: 'post', path: '/mandates/{mandateId}/cancel', tag: 'payments', callers: 'key', scope: 'payments:write', tenant: 'customer', success: 200, idempotency: 'optional', feature: 'payments.direct_debits' },
  { id: 'listExchanges', method: 'get', path: '/exchanges', tag: 'payments', callers: 'key', scope: 'exchanges:read', tenant: 'customer', success: 200, list: true, q: true, withTotal: true },
  { id: 'createExchange', method: 'post', path: '/exchanges', tag: 'payments', callers: 'key', scope: 'exchanges:write', tenant: 'customer', success: 201, idempotency: 'required' },
  { id: 'getExchange', method: 'get', path: '/exchanges/{exchangeId}', tag: 'payments', callers: 'key', scope: 'exchanges:read', tenant: 'customer', success: 200 },
  { id: 'getExchangeConfirmation', method: 'get', path: '/exchanges/{exchangeId}/confirmation', tag: 'payments', callers: 'key', scope: 'statements:read', tenant: 'customer', success: 200, contentType: 'application/pdf' },
  { id: 'createQuote', method: 'post', path: '/exchanges/quotes', tag: 'payments', callers: 'key', scope: 'exchanges:write', tenant: 'customer', success: 201, idempotency: 'optional' },
  { id: 'getQuote', method: 'get', path: '/exchanges/quotes/{quoteId}', tag: 'payments', callers: 'key', scope: 'exchanges:read', tenant: 'customer', success: 200 },
  { id: 'refreshQuote', method: 'post', path: '/exchanges/quotes/{quoteId}/refresh', tag: 'payments', callers: 'key', scope: 'exchanges:write', tenant: 'customer', success: 201, idempotency: 'optional' },
  { id: 'listRecipients', method: 'get', path: '/recipients', tag: 'recipients', callers: 'key', scope: 'recipients:read', tenant: 'customer', success: 200, list: true, q: true, withTotal: true, idAndMetadata: true },
  { id: 'createRecipient', method: 'post', path: '/recipients', tag: 'recipients', callers: 'key', scope: 'recipients:write', tenant: 'customer', success: 201, idempotency: 'required', stepUp: 'recipient.create' },
  { id: 'getRecipient', method: 'get', path: '/recipients/{recipientId}', tag: 'recipients', callers: 'key', scope: 'recipients:read', tenant: 'customer', success: 200, conditional: true },
  { id: 'updateRecipient', method: 'patch', path: '/recipients/{recipientId}', tag: 'recipients', callers: 'key', scope: 'recipients:write', tenant: 'customer', success: 200, ifMatch: true, stepUp: 'recipient.update' },
  { id: 'deleteRecipient', method: 'delete', path: '/recipients/{recipientId}', tag: 'recipients', callers: 'key', scope: 'recipients:write', tenant: 'customer', success: 204, ifMatch: true },
  { id: 'verifyRecipient', method: 'post', path: '/recipients/{recipientId}/verify', tag: 'recipients', callers: 'key', scope: 'recipients:write', tenant: 'customer', success: 200 },
  { id: 'getRecipientRequirements', method: 'get', path: '/recipients/requirements', tag: 'recipients', callers: 'key', scope: 'recipients:read', tenant: 'customer', success: 200 },
  { id: 'listBalances', method: 'get', path: '/balances', tag: 'accounts', callers: 'key', scope: 'balances:read', tenant: 'any', success: 200, list: true, q: true, withTotal: true, idAndMetadata: true },
  { id: 'getBalance', method: 'get', path: '/balances/{balanceId}', tag: 'accounts', callers: 'key', scope: 'balances:read', tenant: 'customer', success: 200, conditional: true },
  { id: 'getBalanceAccountDetails', method: 'get', path: '/balances/{balanceId}/details', tag: 'accounts', callers: 'key', scope: 'balances:read', tenant: 'customer', success: 200 },
  { id: 'listBalanceHolds', method: 'get', path: '/balances/{balanceId}/holds', tag: 'accounts', callers: 'key', scope: 'balances:read', tenant: 'customer', success: 200, list: true, withTotal: true },
  { id: 'listBalanceJournal', method: 'get', path: '/balances/{balanceId}/journal', tag: 'accounts', callers: 'key', scope: 'transactions:read', tenant: 'customer', success: 200, list: true, withTotal: true },
  { id: 'listStatements', method: 'get', path: '/balances/{balanceId}/statements', tag: 'accounts', callers: 'key', scope: 'statements:read', tenant: 'customer', success: 200, list: true, withTotal: true },
  { id: 'requestStatement', method: 'post', path: '/balances/{balanceId}/statements', tag: 'accounts', callers: 'key', scope: 'statements:read', tenant: 'customer', success: 202, idempotency: 'optional', stepUp: 'statement.full_export' },
  { id: 'downloadStatement', method: 'get', path: '/balances/{balanceId}/statements/{statementId}/download', tag: 'accounts', callers: 'key', scope: 'statements:read', tenant: 'customer', success: 200 },
  { id: 'listCurrencies', method: 'get', path: '/currencies', tag: 'accounts', callers: 'key', scope: 'balances:read', tenant: 'customer', success: 200 },
  { id: 'listCustomerCurrencies', method: 'get', path: '/customers/{customerId}/settings/currencies', tag: 'accounts', callers: 'key', scope: 'balances:read', tenant: 'any', success: 200, conditional: true },
  { id: 'listAttachments', method: 'get', path: '/attachments', tag: 'activity', callers: 'key', scope: 'transactions:read', tenant: 'customer', success: 200, list: true, withTotal: true },
  { id: 'getAttachment', method: 'get', path: '/attachments/{attachmentId}', tag: 'activity', callers: 'key', scope: 'transactions:read', tenant: 'customer', success: 200 },
  { id: 'downloadAttachment', method: 'get', path: '/attachments/{attachmentId}/download', tag: 'activity', callers: 'key', scope: 'transactions:read', tenant: 'customer', success: 200 },
  { id: 'getJob', method: 'get', path: '/jobs/{jobId}', tag: 'activity', callers: 'key', scope: 'transactions:read', tenant: 'any', success: 200 },
  { id: 'listTransactions', method: 'get', path: '/transactions', tag: 'activity', callers: 'key', scope: 'transactions:read', tenant: 'customer', success: 200, list: true, q: true, withTotal: true },
  { id: 'getTransaction', method: 'get', path: '/transactions/{transactionId}', tag: 'activity', callers: 'key', scope: 'transactions:read', tenant: 'customer', success: 200, conditional: true },
  { id: 'listAnnotations', method: 'get', path: '/transactions/{transactionId}/annotations', tag: 'activity', callers: 'key', scope: 'transactions:read', tenant: 'customer', success: 200, list: true, withTotal: true },
  { id: 'listTransactionAttachments', method: 'get', path: '/transactions/{transactionId}/attachments', tag: 'activity', callers: 'key', scope: 'transactions:read', tenant: 'customer', success: 200, list: true, withTotal: true },
  { id: 'getTransactionConfirmation', method: 'get', path: '/transactions/{transactionId}/confirmation', tag: 'activity', callers: 'key', scope: 'statements:read', tenant: 'customer', success: 200, contentType: 'application/pdf' },
  { id: 'listTransactionUpdates', method: 'get', path: '/transactions/{transactionId}/updates', tag: 'activity', callers: 'key', scope: 'transactions:read', tenant: 'customer', success: 200, list: true, withTotal: true },
  { id: 'exportTransactions', method: 'post', path: '/transactions/exports', tag: 'activity', callers: 'key', scope: 'transactions:read', tenant: 'customer', success: 202, idempotency: 'optional', stepUp: 'statement.full_export' },
  { id: 'listCustomers', method: 'get', path: '/customers', tag: 'tenants', callers: 'key', scope: 'customers:read', tenant: 'operator', success: 200, list: true, q: true, withTotal: true, idAndMetadata: true },
  { id: 'createCustomer', method: 'post', path: '/customers', tag: 'tenants', callers: 'key', scope: 'customers:write', tenant: 'operator', success: 201, idempotency: 'optional' },
  { id: 'getCustomer', method: 'get', path: '/customers/{customerId}', tag: 'tenants', callers: 'key', scope: 'customers:read', tenant: 'any', success: 200, conditional: true },
  { id: 'getKybCase', method: 'get', path: '/customers/{customerId}/kyb', tag: 'onboarding', callers: 'key', scope: 'onboarding:read', tenant: 'any', success: 200, conditional: true },
  { id: 'listProviderConnections', method: 'get', path: '/provider-connections', tag: 'providers', callers: 'key', scope: 'integration:read', tenant: 'operator', success: 200, list: true, withTotal: true },
  { id: 'getProviderConnection', method: 'get', path: '/provider-connections/{connectionId}', tag: 'providers', callers: 'key', scope: 'integration:read', tenant: 'operator', success: 200, conditional: true },
  { id: 'getDeveloperWorkspace', method: 'get', path: '/developer/workspace', tag: 'developer', callers: 'key', scope: 'balances:read', tenant: 'customer', success: 200 },
  { id: 'getIntegrationHome', method: 'get', path: '/integration', tag: 'public-api', callers: 'key', scope: 'integration:read', tenant: 'operator', success: 200 },
  { id: 'listOperatorApiKeyRequests', method: 'get', path: '/integration/api-keys/{apiKeyId}/requests', tag: 'public-api', callers: 'key', scope: 'integration:read', tenant: 'operator', success: 200 },
  { id: 'getOperatorApiUsage', method: 'get', path: '/integration/api-usage', tag: 'public-api', callers: 'key', scope: 'integration:read', tenant: 'operator', success: 200 },
  { id: 'listIntegratorWebhooks', method: 'get', path: '/integrator-webhooks', tag: 'public-api', callers: 'key', scope: 'webhooks:manage', tenant: 'any', success: 200, list: true, withTotal: true },
  { id: 'createIntegratorWebhook', method: 'post', path: '/integrator-webhooks', tag: 'public-api', callers: 'key', scope: 'webhooks:manage', tenant: 'any', success: 201, stepUp: 'integrator_webhook.change' },
  { id: 'getIntegratorWebhook', method: 'get', path: '/integrator-webhooks/{webhookId}', tag: 'public-api', callers: 'key', scope: 'webhooks:manage', tenant: 'any', success: 200, conditional: true },
  { id: 'updateIntegratorWebhook', method: 'patch', path: '/integrator-webhooks/{webhookId}', tag: 'public-api', callers: 'key', scope: 'webhooks:manage', tenant: 'any', success: 200, ifMatch: true, stepUp: 'integrator_webhook.change' },
  { id: 'deleteIntegratorWebhook', method: 'delete', path: '/integrator-webhooks/{webhookId}', tag: 'public-api', callers: 'key', scope: 'webhooks:manage', tenant: 'any', success: 204, ifMatch: true, stepUp: 'integrator_webhook.change' },
  { id: 'listWebhookDeliveries', method: 'get', path: '/integrator-webhooks/{webhookId}/deliveries', tag: 'public-api', callers: 'key', scope: 'webhooks:manage', tenant: 'any', success: 200, list: true, withTotal: true },
  { id: 'redeliverWebhook', method: 'post', path: '/integrator-webhooks/{webhookId}/deliveries/{deliveryId}/redeliver', tag: 'public-api', callers: 'key', scope: 'webhooks:manage', tenant: 'any', success: 202 },
  { id: 'rotateIntegratorWebhookSecret', method: 'post', path: '/integrator-webhooks/{webhookId}/rotate-secret', tag: 'public-api', callers: 'key', scope: 'webhooks:manage', tenant: 'any', success: 200, stepUp: 'integrator_webhook.change' },
  { id: 'testIntegratorWebhook', method: 'post', path: '/integrator-webhooks/{webhookId}/test', tag: 'public-api', callers: 'key', scope: 'webhooks:manage', tenant: 'any', success: 200 },
  { id: 'simulateSandboxIncomingPayment', method: 'post', path: '/sandbox/incoming-payments', tag: 'public-api', callers: 'key', scope: 'payments:write', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'simulateSandboxPaymentStatus', method: 'post', path: '/sandbox/payments/{paymentId}/status', tag: 'public-api', callers: 'key', scope: 'payments:write', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'resetSandbox', method: 'post', path: '/sandbox/reset', tag: 'public-api', callers: 'key', scope: 'webhooks:manage', tenant: 'customer', success: 200, idempotency: 'optional', sandboxOnly: true },
  { id: 'listSimulations', method: 'get', path: '/simulations', tag: 'simulations', callers: 'simulation', scope: 'balances:read', tenant: 'customer', success: 200, sandboxOnly: true },
  { id: 'simulateCardTransaction', method: 'post', path: '/simulations/cards/{cardId}/transactions', tag: 'simulations', callers: 'simulation', scope: 'payments:write', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'simulateCollectionStatus', method: 'post', path: '/simulations/direct-debits/collections/{collectionId}/status', tag: 'simulations', callers: 'simulation', scope: 'payments:write', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'simulateExchangeStatus', method: 'post', path: '/simulations/exchanges/{exchangeId}/status', tag: 'simulations', callers: 'simulation', scope: 'exchanges:write', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'simulateFxRateMove', method: 'post', path: '/simulations/fx-rates', tag: 'simulations', callers: 'simulation', scope: 'exchanges:write', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'simulateIncomingDebit', method: 'post', path: '/simulations/incoming-debits', tag: 'simulations', callers: 'simulation', scope: 'payments:write', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'simulateIncomingPayment', method: 'post', path: '/simulations/incoming-payments', tag: 'simulations', callers: 'simulation', scope: 'payments:write', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'simulateIncomingRecall', method: 'post', path: '/simulations/incoming-payments/{incomingPaymentId}/recall', tag: 'simulations', callers: 'simulation', scope: 'payments:write', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'simulateKycOutcome', method: 'post', path: '/simulations/kyc', tag: 'simulations', callers: 'simulation', scope: 'payments:write', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'simulatePaymentRecall', method: 'post', path: '/simulations/payments/{paymentId}/recall', tag: 'simulations', callers: 'simulation', scope: 'payments:write', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'simulatePaymentReturn', method: 'post', path: '/simulations/payments/{paymentId}/return', tag: 'simulations', callers: 'simulation', scope: 'payments:write', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'simulatePaymentStatus', method: 'post', path: '/simulations/payments/{paymentId}/status', tag: 'simulations', callers: 'simulation', scope: 'payments:write', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'simulateScheduledRun', method: 'post', path: '/simulations/scheduled-payments/{scheduledPaymentId}/run-now', tag: 'simulations', callers: 'simulation', scope: 'payments:write', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'simulateStatement', method: 'post', path: '/simulations/statements', tag: 'simulations', callers: 'simulation', scope: 'webhooks:manage', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'simulateWebhookEvent', method: 'post', path: '/simulations/webhook-events', tag: 'simulations', callers: 'simulation', scope: 'webhooks:manage', tenant: 'customer', success: 202, idempotency: 'optional', sandboxOnly: true },
  { id: 'getHealth', method: 'get', path: '/health', tag: 'public-api', callers: 'public', success: 200 },
  { id: 'getReady', method: 'get', path: '/ready', tag: 'public-api', callers: 'public', success: 200 },
  { id: 'getOpenApi', method: 'get', path: '/openapi.json', tag: 'public-api', callers: 'public', success: 200, conditional: true },
  { id: 'createApiKey', method: 'post', path: '/api-keys', tag: 'public-api', callers: 'session', tenant: 'customer', success: 201, stepUp: 'api_key.create' },
  { id: 'rotateApiKey', method: 'post', path: '/api-keys/{apiKeyId}/rotate', tag: 'public-api', callers: 'session', tenant: 'customer', success: 201, stepUp: 'api_key.create' },
  { id: 'revokeApiKey', method: 'delete', path: '/api-keys/{apiKeyId}', tag: 'public-api', callers: 'session', tenant: 'customer', success: 204, stepUp: 'api_key.revoke' },
]
