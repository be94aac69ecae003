/** The notice that payers get before a collection. */
import type { Period } from '../../lib/direct-debits/dates.ts'
import { DEBIT_SCHEMES } from '../../lib/direct-debits/schemes.ts'
import type { MandateScheme } from '../../lib/rails/debit-schemes.ts'
import type { DebitTerms } from '../../storage/direct-debits/debit-terms.ts'

/**
 * Returns the notice of a scheme: of SEPA, which counts calendar days and lets parties agree on fewer, the days of the
 * customer or its operator; of other schemes their own.
 */
export function noticeOf(scheme: MandateScheme, { noticeDays }: Pick<DebitTerms, 'noticeDays'>): Period {
  return scheme === 'sepa_dd_core' || scheme === 'sepa_dd_b2b'
    ? { count: noticeDays, unit: 'calendar' }
    : DEBIT_SCHEMES[scheme].preNotification
}
