/**
 * Return rates: how many of the collections that a customer has presented in a scheme came back. Schemes count them over
 * 60 days and exclude creditors who pass a limit, and with them the operator who let them collect. Pure.
 */

/** The returns that a limit counts. `every`: also those of the other two. */
export type ReturnGroup = 'unauthorised' | 'administrative' | 'every'

/** A limit: the share of returns, in hundredths of a per cent, that a scheme allows. */
export interface ReturnRateLimit {
  readonly group: ReturnGroup
  readonly bps: number
  /** Reason codes that count for it; null: every return. */
  readonly codes: ReadonlySet<string> | null
}

/** Days over which returns are counted. */
export const RETURN_RATE_DAYS = 60

/** Below this number of presented collections a rate says nothing, and no customer is stopped. */
export const PRESENTED_MIN = 100

/** The share of a limit from which staff are warned, in per cent. */
const WARNED_FROM = 80

/** Hundredths of a per cent in a whole. */
const BPS = 10_000

const UNAUTHORISED = ['R05', 'R07', 'R10', 'R11', 'R29', 'R51']
const ADMINISTRATIVE = ['R02', 'R03', 'R04']

/** The limits of the ACH (Nacha, Operating Rules, return rate levels): 0.5, 3 and 15 per cent. */
export const ACH_LIMITS: readonly ReturnRateLimit[] = [
  { group: 'unauthorised', bps: 50, codes: new Set(UNAUTHORISED) },
  { group: 'administrative', bps: 300, codes: new Set(ADMINISTRATIVE) },
  { group: 'every', bps: 1_500, codes: null },
]

/** The collections of a customer in one scheme over the last days. */
export interface ReturnCounts {
  readonly presented: number
  /** Returns by their reason code. */
  readonly returned: Readonly<Record<string, number>>
}

/** The verdict on a customer: it may go on, staff are warned, or no further collection is accepted. */
export interface ReturnVerdict {
  readonly level: 'fine' | 'warned' | 'stopped'
  /** The limit that decides; null where none is near. */
  readonly limit: ReturnRateLimit | null
  /** The rate under that limit, in hundredths of a per cent, rounded down. */
  readonly bps: number
}

const FINE: ReturnVerdict = { level: 'fine', limit: null, bps: 0 }

/** Judges the returns of a customer; of several limits the one that is exceeded most decides. */
export function judgeReturns(limits: readonly ReturnRateLimit[], { presented, returned }: ReturnCounts): ReturnVerdict {
  if (presented < PRESENTED_MIN) return FINE
  let [worst, worstShare] = [FINE, 0]
  for (const limit of limits) {
    let count = 0
    for (const [code, times] of Object.entries(returned))
      if (limit.codes === null || limit.codes.has(code)) count += times
    // Per cent of the limit that are used up.
    const share = (count * BPS * 100) / (presented * limit.bps)
    if (share < WARNED_FROM || share <= worstShare) continue
    const bps = Math.floor((count * BPS) / presented)
    worst = { level: share >= 100 ? 'stopped' : 'warned', limit, bps }
    worstShare = share
  }
  return worst
}
