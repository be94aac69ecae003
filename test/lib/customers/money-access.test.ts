/** What a customer may do with its money in each status: the table, and the operation of each use of money. */
import t from 'tap'
import { routes } from '../../../http/server/routes.ts'
import { MONEY_USES, moneyProblem, WAITING_STATUSES, type MoneyUse } from '../../../lib/customers/money-access.ts'
import {
  CUSTOMER_MEASURES,
  CUSTOMER_STATUSES,
  LIFE_STATUSES,
  shownStatus,
  type CustomerStanding,
} from '../../../lib/customers/status.ts'
import { openapiDocument } from '../../../http/openapi/openapi.ts'

t.test('each status allows what the contract allows', (t) => {
  const words = { 'customer-not-active': 'not active', 'customer-restricted': 'restricted' } as const
  const standings = [
    ...LIFE_STATUSES.map((customerStatus) => ({ customerStatus, customerMeasure: null })),
    ...['active', 'closing'].flatMap((customerStatus) =>
      CUSTOMER_MEASURES.map((customerMeasure) => ({ customerStatus, customerMeasure }) as CustomerStanding),
    ),
  ]
  const table = standings.map((standing) =>
    [
      [standing.customerStatus, standing.customerMeasure ?? []].flat().join(', '),
      ...MONEY_USES.map((use) => {
        const problem = moneyProblem(standing, use)
        return problem === null ? 'allowed' : words[problem.slug as keyof typeof words]
      }),
    ].join(' | '),
  )
  t.strictSame(table, [
    'draft | not active | not active | not active',
    'onboarding | not active | not active | not active',
    'in_review | not active | not active | not active',
    'info_required | not active | not active | not active',
    'active | allowed | allowed | allowed',
    'rejected | not active | not active | not active',
    'closing | not active | allowed | allowed',
    'closed | not active | not active | not active',
    'active, restricted | allowed | allowed | restricted',
    'active, suspended | restricted | restricted | restricted',
    'closing, restricted | not active | allowed | restricted',
    'closing, suspended | restricted | restricted | restricted',
  ])
  t.strictSame(CUSTOMER_MEASURES, ['restricted', 'suspended'])
  t.strictSame(
    WAITING_STATUSES,
    ['draft', 'onboarding', 'in_review', 'info_required', 'rejected'],
    'payments wait where the customer does not pay, unless it is closed',
  )
  t.strictSame(
    [...new Set(standings.map(shownStatus))].sort(),
    [...CUSTOMER_STATUSES].sort(),
    'each status of the contract is shown',
  )
  t.match(moneyProblem({ customerStatus: 'draft', customerMeasure: null }, 'pay'), {
    extra: { customerStatus: 'draft' },
  })
  t.end()
})

/** The uses of money by operation; every other write of a customer uses none. */
const USES: Readonly<Record<MoneyUse, string>> = {
  prepare:
    'addMoney createCard createFundsRequest createRecipient openBalance remindFundsRequest requestAccountDetails ' +
    'updateRecipient verifyRecipient',
  move:
    'closeBalance createExchange createForwardContract createForwardDrawdown createHeldRate createHeldRateDrawdown ' +
    'createQuote createTransfer payForwardDeposit refreshQuote',
  pay:
    'confirmIncomingDebit createBulkPayment createCollection createMandate createPayment createScheduledPayment ' +
    'resumeScheduledPayment reverseCollection submitBulkPayment submitPayment validatePayment',
}
/**
 * Writes that no status refuses: they stop, decide, annotate or set something, and move no money. What an approval
 * releases meets the status where it is released.
 */
const FREE = `
  activateCard allocateIncomingPayment answerPaymentQuestion cancelBulkPayment cancelCollection cancelExchange
  cancelFundsRequest cancelHeldRate cancelJob cancelMandate cancelPayment cancelScheduledPayment closeCard
  createAnnotation createApiKey createCustomerAddress createIntegratorWebhook createInvitation createKybPerson
  createKycSdkToken createStepUpChallenge createTeam decideApproval deleteAnnotation deleteAttachment
  deleteCustomerAddress deleteDocument deleteIntegratorWebhook deleteKybDocument deleteKybPerson deletePayment
  deleteRecipient deleteTeam exportTransactions freezeCard noteCollectionNotice pauseScheduledPayment readNotification redeliverWebhook
  refundIncomingDebit refuseIncomingDebit remindApprovers removeMembership requestClosure requestPaymentRecall
  requestStatement resendInvitation resetSandbox revalidateBulkPayment revokeApiKey revokeInvitation rotateApiKey
  rotateIntegratorWebhookSecret simulateCardTransaction simulateCollectionStatus simulateExchangeStatus
  simulateFxRateMove simulateIncomingDebit simulateIncomingPayment simulateIncomingRecall simulateKycOutcome
  simulateMandateStatus simulatePaymentRecall simulatePaymentReturn simulatePaymentStatus simulateSandboxIncomingPayment
  simulateSandboxPaymentStatus simulateScheduledRun simulateStatement simulateWebhookEvent submitKybCase
  testIntegratorWebhook transferPrimaryOwner unfreezeCard updateAlertSettings updateAnnotation updateApiKey
  updateApprovalPolicy updateApprovedDomains updateBalance updateCardControls updateCardLimits updateCustomer
  updateCustomerAddress updateCustomerCurrencies updateCustomerLimits updateCustomerPreferences updateDebitControls
  updateFundsRequest updateIntegratorWebhook updateKybCase updateKybPerson updateMandate updateMembership
  updateNotificationPreferences updatePayment updateScheduledPayment updateTeam updateTransaction uploadDocument
  uploadKybDocument uploadTransactionAttachment verifyStepUpChallenge withdrawClosure withdrawKybCase
`

interface Operation {
  readonly operationId: string
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>
}

t.test('each write of the OpenAPI document is in the table, and says what the status refuses', (t) => {
  const { paths, components } = openapiDocument(routes) as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
    readonly components: { readonly responses: Readonly<Record<string, object>> }
  }
  const response = ({ $ref, ...given }: { readonly $ref?: string } = {}): string =>
    JSON.stringify($ref === undefined ? given : components.responses[$ref.split('/').at(-1) as string])
  const words = (text: string) => text.trim().split(/\s+/)
  const used = new Map(MONEY_USES.flatMap((use) => words(USES[use]).map((id) => [id, use] as const)))
  const free = new Set(words(FREE))
  const known = new Map(routes.map((route) => [route.operationId, route]))
  const seen = new Set<string>()
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const { operationId } = operation
      const route = known.get(operationId)
      if (route === undefined) continue
      t.equal(route.money, used.get(operationId), `${method} ${path}`)
      const isWrite =
        method !== 'get' &&
        route.callers !== 'public' &&
        route.callers !== 'staff' &&
        (route.tenant === 'customer' || route.tenant === 'any')
      t.equal(free.has(operationId) || used.has(operationId), isWrite, `${operationId} is in one of the lists`)
      seen.add(operationId)
      if (!used.has(operationId)) continue
      t.match(response(operation.responses['403']), /customer-restricted/, operationId)
      t.match(response(operation.responses['409']), /customer-not-active/, operationId)
    }
  t.strictSame(
    [...free, ...used.keys()].filter((id) => !seen.has(id)),
    [],
    'no operation is named that does not exist',
  )
  t.end()
})
