/**
 * The reports of the sandbox bank that can be simulated for mandates and collections, and the statuses in which they are
 * possible. A simulation replaces the planned reports; the moves of mandates and collections decide its effect, as for
 * every report. Pure.
 */
import type { CollectionRecord, CollectionStatus } from '../direct-debits/collection.ts'
import type { MandateRecord, MandateStatus } from '../direct-debits/mandate.ts'
import { rTypeOf, DEBIT_SCHEMES } from '../direct-debits/schemes.ts'
import type { CollectionStep, MandateStep } from './direct-debits.ts'

type Report<Step> = Omit<Step, 'afterMs'>

export const SIMULATED_COLLECTION_STATUSES = ['submitted', 'collected', 'failed', 'returned'] as const
export type SimulatedCollectionStatus = (typeof SIMULATED_COLLECTION_STATUSES)[number]

/** The statuses to which the bank can bring a collection, by its status; a pending one is submitted on the way. */
const COLLECTION_ENDS: { readonly [status in CollectionStatus]?: readonly SimulatedCollectionStatus[] } = {
  pending: ['submitted', 'collected', 'failed'],
  submitted: ['collected', 'failed'],
  exception: ['collected', 'failed', 'returned'],
  collected: ['returned'],
  // Money that came back comes again.
  returned: ['collected'],
  // The bank refuses to send the money back.
  reversed: ['collected'],
}

type KnownCollection = Pick<CollectionRecord, 'status' | 'reversalStatus' | 'scheme'>

/** Returns the statuses that can be simulated. A collection leaves only by an active mandate. */
export function simulableCollectionStatuses(
  { status, reversalStatus }: Pick<CollectionRecord, 'status' | 'reversalStatus'>,
  mandateStatus: MandateStatus,
): readonly SimulatedCollectionStatus[] {
  if (status === 'reversed' && reversalStatus !== 'pending') return []
  return status === 'pending' && mandateStatus !== 'active' ? [] : (COLLECTION_ENDS[status] ?? [])
}

const collectionReport = (event: CollectionStep['event']): Report<CollectionStep> => ({
  event,
  reasonCode: null,
  type: null,
})

/**
 * Makes the reports of a simulated status, in order; null when the collection's status does not allow it.
 *
 * @param reasonCode by default: `failed` for lack of funds, `returned` because the payer asks for a refund
 */
export function simulatedCollection(
  collection: KnownCollection,
  mandateStatus: MandateStatus,
  to: SimulatedCollectionStatus,
  reasonCode: string | null,
): readonly Report<CollectionStep>[] | null {
  if (!simulableCollectionStatuses(collection, mandateStatus).includes(to)) return null
  const { status, scheme } = collection
  const first = status === 'pending' ? [collectionReport('collection.submitted')] : []
  if (to === 'submitted') return first
  if (status === 'reversed') return [{ event: 'collection.reversal_refused', reasonCode, type: null }]
  if (to === 'collected')
    return [...first, collectionReport(status === 'returned' ? 'collection.reinstated' : 'collection.collected')]
  const { noFunds, refundReason, windows } = DEBIT_SCHEMES[scheme]
  if (to === 'failed') {
    const code = reasonCode ?? noFunds
    return [...first, { event: 'collection.rejected', reasonCode: code, type: rTypeOf(scheme, code, false) }]
  }
  const code = reasonCode ?? refundReason
  const isClaim = reasonCode === null && windows.consumer.indemnity_claim !== null
  return [
    { event: 'collection.returned', reasonCode: code, type: isClaim ? 'indemnity_claim' : rTypeOf(scheme, code, true) },
  ]
}

export const SIMULATED_MANDATE_STATUSES = [
  'submitted',
  'active',
  'suspended',
  'failed',
  'cancelled',
  'expired',
] as const
export type SimulatedMandateStatus = (typeof SIMULATED_MANDATE_STATUSES)[number]

const MANDATE_ENDS: { readonly [status in MandateStatus]?: readonly SimulatedMandateStatus[] } = {
  pending: ['submitted', 'active', 'failed'],
  submitted: ['active', 'failed'],
  active: ['suspended', 'cancelled', 'expired'],
  suspended: ['active', 'cancelled'],
}

/** Returns the statuses to which the bank can bring a mandate. */
export const simulableMandateStatuses = ({
  status,
}: Pick<MandateRecord, 'status'>): readonly SimulatedMandateStatus[] => MANDATE_ENDS[status] ?? []

/** Makes the reports of a simulated status, in order; null when the mandate's status does not allow it. */
export function simulatedMandate(
  mandate: Pick<MandateRecord, 'status'>,
  to: SimulatedMandateStatus,
  reasonCode: string | null,
): readonly Report<MandateStep>[] | null {
  if (!simulableMandateStatuses(mandate).includes(to)) return null
  const report = (event: MandateStep['event']): Report<MandateStep> => ({ event, reasonCode: null, type: null })
  const first = mandate.status === 'pending' ? [report('mandate.submitted')] : []
  if (to === 'submitted') return first
  if (to === 'active')
    return [...first, report(mandate.status === 'suspended' ? 'mandate.reinstated' : 'mandate.active')]
  return [...first, { ...report(`mandate.${to}`), reasonCode }]
}
