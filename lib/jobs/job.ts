/** Jobs: work that is requested now and done soon, as a state machine. Pure. */
import { DAY_MS } from '../base/clock.ts'

export const JOB_KINDS = [
  'transaction_export',
  'statement',
  'bulk_payment_submit',
  'bulk_payment_validate',
  'usage_export',
  'developer_provision',
  'connection_migration',
  'report',
  'debit_response',
  'debit_response_apply',
] as const
export type JobKind = (typeof JOB_KINDS)[number]

export const JOB_STATUSES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'expired'] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

/** The kinds of jobs that move money: a failed one may have had an effect, so it is not simply requested again. */
const MOVES_MONEY: Readonly<Record<JobKind, boolean>> = {
  transaction_export: false,
  statement: false,
  bulk_payment_submit: true,
  bulk_payment_validate: false,
  usage_export: false,
  developer_provision: false,
  connection_migration: true,
  report: false,
  debit_response: false,
  debit_response_apply: true,
}

/** The kinds of jobs whose file is downloaded with the resource that it belongs to, which has a scope of its own. */
const OWN_DOWNLOADS: ReadonlySet<JobKind> = new Set<JobKind>(['report'])

/** Tells whether the file of a job is downloaded with the job. */
export const showsDownload = (kind: JobKind): boolean => !OWN_DOWNLOADS.has(kind)

/** Tells whether a job that failed for a reason on our side may be requested again unchanged. */
export function mayRepeat(kind: JobKind): boolean {
  return !MOVES_MONEY[kind]
}

/** The moves of a job. */
export type JobMove = 'start' | 'succeed' | 'fail' | 'cancel' | 'expire'

//  queued ──start──▶ running ──succeed──▶ succeeded ──expire──▶ expired
//    │                  └──────fail──────▶ failed
//    └──────cancel──────┴────────────────▶ cancelled
const MOVES: Readonly<Record<JobStatus, Readonly<Partial<Record<JobMove, JobStatus>>>>> = {
  queued: { start: 'running', cancel: 'cancelled' },
  // A job whose node died is started again from the same status.
  running: { start: 'running', succeed: 'succeeded', fail: 'failed', cancel: 'cancelled' },
  succeeded: { expire: 'expired' },
  failed: {},
  cancelled: {},
  expired: {},
}

/** Returns the status after a move; null when the move is not allowed. */
export function moveJob(status: JobStatus, move: JobMove): JobStatus | null {
  return MOVES[status][move] ?? null
}

/**
 * The rate of a running job and its remaining time, both measured since its first start; null where they cannot be
 * known.
 */
export interface Pace {
  readonly ratePerSecond: number | null
  readonly etaSeconds: number | null
}

const NO_PACE: Pace = { ratePerSecond: null, etaSeconds: null }

/** Computes the pace of a job. Times are epoch milliseconds; the rate has one decimal. */
export function paceOf(
  {
    status,
    progress: { processed, total },
    startedAt,
  }: {
    readonly status: JobStatus
    readonly progress: { readonly processed: number; readonly total: number | null }
    readonly startedAt: number | null
  },
  now: number,
): Pace {
  if (status !== 'running' || startedAt === null || processed === 0 || now <= startedAt) return NO_PACE
  const perSecond = (processed * 1_000) / (now - startedAt)
  return {
    ratePerSecond: Math.round(perSecond * 10) / 10,
    etaSeconds: total === null ? null : Math.ceil(Math.max(0, total - processed) / perSecond),
  }
}

/** Retention of a job's result, milliseconds. */
export const RESULT_MS = 7 * DAY_MS
/** Retention of an ended job, milliseconds; its result is deleted earlier. */
export const FORGOTTEN_MS = 30 * DAY_MS
/** Failures after which a job is given up. */
export const FAILURES_MAX = 3
/** Attempts after which a job is given up that ends no attempt, for example because it kills its node each time. */
export const BEGINNINGS_MAX = 25

/** The result of a job: a file, or numbers. */
export interface JobResult {
  readonly fileName: string | null
  readonly contentType: string | null
  readonly sizeBytes: number | null
  readonly rows: number | null
  readonly statementId: string | null
  readonly counts: Readonly<Record<string, number>> | null
}

export const NO_RESULT: JobResult = {
  fileName: null,
  contentType: null,
  sizeBytes: null,
  rows: null,
  statementId: null,
  counts: null,
}

/** With `SBX:FAIL` in its request a job fails, where there is a sandbox. */
export const FAIL_CODE = 'FAIL'
