/** Jobs: work that is asked for now and done soon, as a state machine (J1 to J3). Pure. */

export const JOB_KINDS = ['transaction_export', 'statement', 'bulk_payment_submit', 'bulk_payment_validate', 'usage_export', 'developer_provision'] as const
export type JobKind = (typeof JOB_KINDS)[number]

export const JOB_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired'] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

/** What can happen to a job. */
export type JobMove = 'start' | 'succeed' | 'fail' | 'cancel' | 'expire'

//  queued ──start──▶ running ──succeed──▶ succeeded ──expire──▶ expired
//    │                  └──────fail──────▶ failed
//    └──────cancel──────┴────────────────▶ cancelled
const MOVES: Readonly<Record<JobStatus, Readonly<Partial<Record<JobMove, JobStatus>>>>> = {
  queued: { start: 'running', cancel: 'cancelled' },
  // A job whose node died is started again, as it is.
  running: { start: 'running', succeed: 'succeeded', fail: 'failed', cancel: 'cancelled' },
  succeeded: { expire: 'expired' },
  failed: {},
  cancelled: {},
  expired: {},
}

/** What a move makes of a job; null when it has none of that kind. */
export function moveJob(status: JobStatus, move: JobMove): JobStatus | null {
  return MOVES[status][move] ?? null
}

/** How fast work that runs goes, and how long it still takes, both since it was first begun; null where that cannot be known. */
export interface Pace {
  readonly ratePerSecond: number | null
  readonly etaSeconds: number | null
}

const NO_PACE: Pace = { ratePerSecond: null, etaSeconds: null }

/** The pace of a job. Times are epoch milliseconds; the rate has one decimal. */
export function paceOf({ status, progress: { processed, total }, startedAt }: { readonly status: JobStatus; readonly progress: { readonly processed: number; readonly total: number | null }; readonly startedAt: number | null }, now: number): Pace {
  if (status !== 'running' || startedAt === null || processed === 0 || now <= startedAt) return NO_PACE
  const perSecond = (processed * 1_000) / (now - startedAt)
  return { ratePerSecond: Math.round(perSecond * 10) / 10, etaSeconds: total === null ? null : Math.ceil(Math.max(0, total - processed) / perSecond) }
}

/** How long the result of a job is kept, milliseconds. */
export const RESULT_MS = 7 * 86_400_000
/** A job that is over is forgotten after this, milliseconds; its result is gone by then. */
export const FORGOTTEN_MS = 30 * 86_400_000
/** How often a job is tried whose node died or whose work broke. */
export const ATTEMPTS_MAX = 3

/** What a job has come to: a file, or numbers. */
export interface JobResult {
  readonly fileName: string | null
  readonly contentType: string | null
  readonly sizeBytes: number | null
  readonly rows: number | null
  readonly statementId: string | null
  readonly counts: Readonly<Record<string, number>> | null
}

export const NO_RESULT: JobResult = { fileName: null, contentType: null, sizeBytes: null, rows: null, statementId: null, counts: null }

/** The token that lets a job fail where there is a sandbox. */
export const FAIL_TOKEN = 'SBX:FAIL'
