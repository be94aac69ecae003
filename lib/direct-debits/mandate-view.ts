/** Mandates as the API shows them. */
import { timestamp } from '../base/clock.ts'
import { moneyJson } from '../base/money.ts'
import { maskAccountNumber, maskIban } from '../recipients/masking.ts'
import { earliestDueDate, type Period } from './dates.ts'
import { isOpenMandate, type CounterpartyAccount, type MandateRecord } from './mandate.ts'
import { DEBIT_SCHEMES, SEQUENCE_TYPES, type SchemeTerms, type Window, type Windows } from './schemes.ts'

/** The facts that a view needs beside the mandate's row. */
export interface MandateShown {
  /** The earliest due date of its pending collections, `YYYY-MM-DD`. */
  readonly nextCollectionDate: string | null
  /** The notice that the payer of a new collection gets. */
  readonly notice: Period | null
  /** Epoch milliseconds. */
  readonly now: number
}

const time = (ms: number | null): string | null => (ms === null ? null : timestamp(ms))

/** Masks the numbers of an account; codes of banks are shown. */
export function maskedAccount({ iban, accountNumber, ...account }: CounterpartyAccount) {
  return {
    iban: iban === undefined ? null : maskIban(iban),
    bic: account.bic ?? null,
    sortCode: account.sortCode ?? null,
    accountNumber: accountNumber === undefined ? null : maskAccountNumber(accountNumber),
    routingNumber: account.routingNumber ?? null,
    accountType: account.accountType ?? null,
    bsb: account.bsb ?? null,
    institutionNumber: account.institutionNumber ?? null,
    transitNumber: account.transitNumber ?? null,
  }
}

const windowJson = (window: Window | null) =>
  window === null || window === 'unlimited' ? null : { count: window.count, unit: window.unit }

const windowsJson = (windows: Windows) => ({
  return: windowJson(windows.return),
  refundAuthorised: windowJson(windows.refund_authorised),
  refundUnauthorised: windowJson(windows.refund_unauthorised),
  reversal: windowJson(windows.reversal),
  /** Claims without a time limit. */
  indemnityClaims: windows.indemnity_claim === 'unlimited',
})

/** The rules of a scheme that matter to its users. */
export function schemeRules(scheme: SchemeTerms, { counterparty }: Pick<MandateRecord, 'counterparty'>) {
  return {
    name: scheme.name,
    currency: scheme.currency,
    timeZone: scheme.zone,
    cutOff: scheme.cutOff,
    daysToSettle: scheme.daysToSettle,
    earliestDays: scheme.earliestDays,
    preNotification: scheme.preNotification,
    dormancyMonths: scheme.dormancyMonths,
    windows: windowsJson(scheme.windows[counterparty.kind]),
    retryReasons: [...scheme.retry.codes],
    maxAttempts: scheme.retry.max,
    sequenceCodes: Object.fromEntries(SEQUENCE_TYPES.map((type) => [type, scheme.sequenceCodes[type]])),
  }
}

/** The earliest due date of a collection that is made now; null when the mandate takes none. @throws CalendarUnknown */
export function nextPossibleDate(
  mandate: Pick<MandateRecord, 'direction' | 'status' | 'scheme' | 'sequenceType' | 'presentedCount'>,
  { notice, now }: Pick<MandateShown, 'notice' | 'now'>,
): string | null {
  const { direction, status, scheme, sequenceType, presentedCount } = mandate
  if (direction !== 'collect' || status === 'suspended' || !isOpenMandate(mandate)) return null
  if (sequenceType === 'one_off' && presentedCount > 0) return null
  return earliestDueDate(DEBIT_SCHEMES[scheme], now, notice)
}

/** Builds the mandate as the API shows it to its customer. */
export function mandateJson(mandate: MandateRecord, shown: MandateShown) {
  const { counterparty, currency, amountLimit, creditorId, creditorName, pendingAmendment } = mandate
  return {
    id: mandate.id,
    customerId: mandate.customerId,
    direction: mandate.direction,
    scheme: mandate.scheme,
    reference: mandate.reference,
    balanceId: mandate.balanceId,
    counterparty: {
      name: counterparty.name,
      kind: counterparty.kind,
      ...maskedAccount(counterparty),
      creditorId: counterparty.creditorId ?? null,
      address: counterparty.address ?? null,
      email: counterparty.email ?? null,
    },
    status: mandate.status,
    statusReason: mandate.statusReason,
    management: mandate.management,
    sequenceType: mandate.sequenceType,
    amountLimit: amountLimit === null ? null : moneyJson({ amountMinor: amountLimit, currency }),
    preNotificationDays: mandate.noticeDays,
    consentType: mandate.consentType,
    authorisationSource: mandate.authorisationSource,
    creditorScheme: creditorId === null ? null : { creditorId, name: creditorName ?? '' },
    schemeRules: schemeRules(DEBIT_SCHEMES[mandate.scheme], mandate),
    signedAt: time(mandate.signedAt),
    mandateDocumentId: mandate.documentId,
    cancelledAt: time(mandate.cancelledAt),
    providerRef: mandate.providerRef,
    lastCollectionAt: time(mandate.lastCollectionAt),
    nextCollectionDate: shown.nextCollectionDate,
    nextPossibleCollectionDate: nextPossibleDate(mandate, shown),
    pendingAmendment:
      pendingAmendment === null
        ? null
        : {
            reference: pendingAmendment.reference ?? null,
            creditorId: pendingAmendment.creditorId ?? null,
            creditorName: pendingAmendment.creditorName ?? null,
            account: pendingAmendment.account === undefined ? null : maskedAccount(pendingAmendment.account),
            since: pendingAmendment.since,
          },
    history: mandate.history.map(({ status, at, reason, formerAccount }) => ({
      status,
      at,
      reason,
      formerAccount: formerAccount === undefined ? null : maskedAccount(formerAccount),
    })),
    cancellable: isOpenMandate(mandate) && mandate.submittedCount === 0,
    metadata: mandate.metadata,
    createdAt: timestamp(mandate.createdAt),
  }
}
