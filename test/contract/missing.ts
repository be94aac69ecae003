/**
 * Operations of the contract that do not exist yet. The list only shrinks: the contract test fails when one of these
 * exists, and when one that is not here is missing.
 */
export const MISSING: ReadonlySet<string> = new Set([
  'addMoney', 'listApprovals', 'getApproval', 'listBulkPayments', 'createBulkPayment', 'getBulkPayment',
  'cancelBulkPayment', 'listBulkPaymentRows', 'submitBulkPayment', 'listCollections', 'createCollection',
  'getCollection', 'cancelCollection', 'createMandate', 'getMandate', 'cancelMandate', 'listExchanges',
  'createExchange', 'getExchange', 'getExchangeConfirmation', 'createQuote', 'getQuote', 'refreshQuote',
  'createRecipient', 'updateRecipient', 'deleteRecipient', 'verifyRecipient', 'getRecipientRequirements',
  'getBalanceAccountDetails', 'listStatements', 'requestStatement', 'downloadStatement', 'listCurrencies',
  'listCustomerCurrencies', 'listAttachments', 'getAttachment', 'downloadAttachment', 'getJob', 'listTransactions',
  'getTransaction', 'listAnnotations', 'listTransactionAttachments', 'getTransactionConfirmation',
  'listTransactionUpdates', 'exportTransactions', 'listCustomers', 'createCustomer', 'getCustomer', 'getKybCase',
  'listProviderConnections', 'getProviderConnection', 'getDeveloperWorkspace', 'listIntegratorWebhooks',
  'createIntegratorWebhook', 'getIntegratorWebhook', 'updateIntegratorWebhook', 'deleteIntegratorWebhook',
  'listWebhookDeliveries', 'redeliverWebhook', 'rotateIntegratorWebhookSecret', 'testIntegratorWebhook',
  'simulateSandboxIncomingPayment', 'simulateSandboxPaymentStatus', 'resetSandbox', 'listSimulations',
  'simulateCardTransaction', 'simulateCollectionStatus', 'simulateExchangeStatus', 'simulateFxRateMove',
  'simulateIncomingDebit', 'simulateIncomingPayment', 'simulateIncomingRecall', 'simulateKycOutcome',
  'simulatePaymentRecall', 'simulatePaymentReturn', 'simulatePaymentStatus', 'simulateScheduledRun',
  'simulateStatement', 'simulateWebhookEvent',
])
