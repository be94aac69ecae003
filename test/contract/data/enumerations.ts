/**
 * The enumerations of the contract. Event types are in event-types.ts.
 */
import { linesOf, words } from './table.ts'

const ENUMERATIONS = `
  -- Payments and recipients
  PaymentStatus = draft pending_approval scheduled processing on_hold completed failed returned exception rejected
    cancelled
  PaymentProcessingStatus = queued
  PaymentExceptionKind = compliance_hold provider_timeout provider_state_unknown reconciliation_mismatch
    ledger_blocked
  FailureCode = insufficient_funds account_not_found account_closed account_blocked account_not_eligible
    invalid_account_details name_mismatch bank_unreachable unsupported_currency amount_limit_exceeded duplicate
    refused_by_recipient_bank refused_by_recipient regulatory_information_missing reference_invalid cutoff_missed
    declined approval_expired recalled recipient_deceased technical_error unknown
  ChargeBearer = shared sender recipient
  CreatedVia = api_key web mobile bulk schedule system operator
  RecallStatus = requested accepted rejected expired
  TransferStatus = processing completed on_hold failed exception
  ScheduledPaymentStatus = active paused completed cancelled failed
  ScheduleFrequency = once daily weekly fortnightly monthly quarterly semiannually annually
  ScheduleDayPolicy = next_business_day previous_business_day exact
  RecipientType = business individual
  RecipientStatus = pending_approval active rejected blocked deleted
  RecipientApprovalMode = none customer_tier operator_queue customer_then_operator
  RecipientApprovalStatus = not_required pending approved rejected expired cancelled
  VerificationOutcome = match close_match no_match unavailable
  VerificationScheme = cop vop internal none
  Rail = sepa sepa_instant target2 faster_payments chaps bacs swift internal ach ach_same_day fedwire rtp fednow
    pl_elixir pl_express_elixir ch_sic se_domestic no_domestic dk_domestic cz_certis hu_giro ro_transfond bg_bisera
    au_becs au_npp nz_becs ca_eft sg_fast sg_giro hk_fps hk_chats jp_zengin in_neft in_imps in_rtgs mx_spei za_eft
    za_rtc ae_uaefts card
  BulkStatus = validating ready invalid submitting submitted partially_submitted cancelled
  RowStatus = pending valid invalid submitting submitted failed
  BulkFormat = csv xlsx pain001 json
  FundsRequestStatus = open partially_paid paid expired cancelled declined

  -- Direct debit
  MandateDirection = collect pay
  MandateScheme = sepa_dd_core sepa_dd_b2b bacs_dd ach_debit becs_dd pad
  MandateStatus = pending submitted active suspended failed cancelled expired consumed
  MandateManagement = client provider
  SequenceType = first recurring final one_off
  CollectionStatus = pending submitted collected failed returned reversed cancelled exception
  RTransactionType = reject refusal return refund_authorised refund_unauthorised reversal indemnity_claim
  IncomingDebitStatus = announced pending_confirmation debited refused returned refunded

  -- Exchange
  FixedSide = sell buy
  ExchangeKind = spot forward held_rate drawdown
  ExchangeStatus = pending_approval processing awaiting_deposit active partially_drawn completed overdue failed
    rejected cancelled expired closed_out exception
  ForwardContractStatus = pending_approval awaiting_deposit active partially_drawn completed overdue cancelled
    closed_out rejected failed exception
  HeldRateStatus = pending_approval active partially_drawn completed expired cancelled rejected failed
  DepositStatus = not_required awaiting received margin_call released applied forfeited
  ForwardType = fixed open

  -- Approval, people, keys
  ApprovalStatus = pending approved rejected expired cancelled
  ApprovalDecision = approved rejected
  ApprovalSubjectType = payment recipient bulk_payment exchange approval_policy_change
  ApprovalPolicyKind = payment bulk_payment exchange recipient policy_change
  ApprovalPolicySource = snapshot policy default recipient
  ApprovalIssueCode = not_enough_approvers requester_only_approver approver_suspended rate_unavailable policy_changed
  MemberRole = owner admin approver preparer viewer accountant cardholder
  StaffRole = operator_admin compliance operations treasury support integration
  MembershipStatus = active suspended removed
  InvitationStatus = pending accepted expired revoked
  ApiKeyEnvironment = live test
  ApiKeyStatus = active rotating expired revoked
  ApiKeyLevel = customer operator
  StepUpAction = api_key.create api_key.revoke recipient.create recipient.update payment.above_threshold
    statement.full_export integrator_webhook.change approval.decide membership.change settings.change
    provider_connection.change card.manage exchange.above_threshold
  StepUpMethod = webauthn totp push recovery_code
  SessionStatus = mfa_required active idle expired revoked

  -- Customer, onboarding, providers
  CustomerStatus = draft onboarding in_review info_required active restricted suspended rejected closing closed
  CustomerType = business sole_trader individual
  IdentityType = corporate individual
  AccessStatus = not_invited invited active locked
  RiskRating = low medium high prohibited
  KybCaseStatus = draft submitted in_review info_requested approved rejected withdrawn
  KycProviderId = sumsub manual sandbox
  ReviewAnswer = green red pending
  OnboardingMode = wizard provider_sdk operator
  KybPersonRole = director ubo controller authorised_signatory owner
  KybDocumentType = kyb_incorporation kyb_register_extract kyb_articles kyb_ownership_chart kyb_address
    kyb_source_of_funds kyb_licence kyb_other kyb_person_id kyb_proof_of_address
  DocumentStatus = pending_scan clean infected rejected deleted
  DocumentPurpose = kyb mandate payment_support transaction_attachment recipient_support
  ProviderId = sandbox adyen banking_circle clearbank currencycloud modulr
  ProviderEnvironment = sandbox production
  ConnectionLifecycle = draft verified active draining retired failed
  ConnectionRole = primary fallback
  ContractModel = platform_of_record customer_of_record
  WebhookRegistrationState = not_supported pending registered failed
  ProviderEventStatus = received verified processed ignored failed duplicate
  DeveloperRegistrationMode = open approval closed
  DeveloperRegistrationStatus = pending_verification pending_approval provisioning active suspended expired deleted
    rejected

  -- Accounts, activity, webhooks, simulations, cards
  BalanceType = main sub
  BalanceStatus = active frozen closing closed
  AccountDetailsStatus = pending active replaced closing closed failed
  DetailsChangeKind = reissue provider_switch closing
  HoldStatus = active captured released expired
  HoldSubjectType = payment payment_review exchange forward_deposit card_authorisation collection_reserve recall
    legal_order manual
  JournalDirection = debit credit
  TransactionType = incoming_payment outgoing_payment payment_return incoming_payment_return transfer_in transfer_out
    exchange_out exchange_in collection collection_return direct_debit direct_debit_refund card_payment card_refund
    card_withdrawal forward_deposit forward_deposit_release fee fee_refund interest adjustment
  TransactionStatus = pending on_hold completed failed cancelled returned
  StatementKind = monthly custom
  StatementFormat = pdf csv xlsx camt053 mt940
  ExportFormat = csv xlsx json camt053 mt940
  JobKind = transaction_export statement bulk_payment_submit bulk_payment_validate usage_export developer_provision
  JobStatus = queued running succeeded failed cancelled expired
  WebhookStatus = active paused disabled
  WebhookDisabledReason = owner delivery_failures
  DeliveryStatus = pending retrying succeeded failed discarded
  DeliveryErrorKind = http_status timeout dns connect tls redirect unsafe_address response_too_large
  SimulationKind = card_transaction collection_status exchange_status fx_rate incoming_debit incoming_payment
    incoming_recall kyc mandate_status payment_recall payment_return payment_status scheduled_run statement webhook_event
  SimulationStatus = queued submitted applied
  SimulationProvider = sandbox partner kyc platform
  CardPhase = authorisation increment partial_reversal expiry force_post advice atm settlement reversal refund
    refund_reversal chargeback chargeback_won chargeback_lost decline
  CardChannel = ecommerce pos_chip contactless atm moto recurring
  CardDeclineReason = insufficient_funds limit_exceeded card_frozen card_expired invalid_cvc invalid_pin
    pin_tries_exceeded merchant_blocked country_blocked channel_disabled suspected_fraud authentication_required
    do_not_honour system_error
  CardStatus = inactive active frozen blocked expired closed
  ComplianceHoldKind = outbound_screening inbound_recall inbound_screening transaction_monitoring legal_order
`

/** The values of each enumeration, by its name. */
export const CONTRACT_ENUMERATIONS: ReadonlyMap<string, readonly string[]> = read()

/** A line without a name continues the enumeration before it. */
function read(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  let values: string[] = []
  for (const line of linesOf(ENUMERATIONS)) {
    const [name, text] = line.includes('=') ? line.split('=') : [null, line]
    if (name !== null) found.set(name!.trim(), (values = []))
    values.push(...words(text ?? ''))
  }
  return found
}
