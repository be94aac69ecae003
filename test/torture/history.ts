/**
 * The material of a verdict: the requests and answers of clients (the history), and the rows of Postgres (the books).
 *
 * A command may leave two things behind: something that was made under its key (a file, a schedule, a request for
 * money), and money that it wants moved. Money moves at once, or later by itself: by the row of a file, a day of a
 * schedule, the bank's message. Either way it has a name of its own, by which it is found in the books.
 *
 * Times are epoch milliseconds of one machine: the clients' and those of the commits (Postgres,
 * track_commit_timestamp).
 */

export type MoneyKind = 'payment' | 'transfer' | 'exchange' | 'arrival'
export type ThingKind = 'file' | 'schedule' | 'request'
/** The command under a key. */
export type CommandKind =
  | MoneyKind
  | ThingKind
  | 'conversion'
  | 'draft'
  | 'draft_submission'
  | 'submission'
  | 'run'
  | 'cancellation'

/** Money that a command wants moved. Whoever wants it once more, under another key, names it the same. */
export interface Wanted {
  readonly name: string
  readonly kind: MoneyKind
  /** The balance that it leaves; null for an arrival. */
  readonly from: string | null
  /** The balance credited by a transfer, by an arrival, or by an exchange in the end; null for a payment. */
  readonly to: string | null
  /** The amount that leaves the balance; of an exchange the amount sold, of an arrival the amount credited. */
  readonly amount: bigint
  /** Another amount that it may have, because it was edited at the same moment. */
  readonly or?: bigint
  /**
   * The status that it comes to. A payment of a schedule waits as `scheduled` before, as long as there is no money for
   * it.
   */
  readonly ends: string
}

export interface Command {
  readonly key: string
  /** Whose it is, and where it was sent to. */
  readonly tenantId: string
  readonly path: string
  readonly kind: CommandKind
  readonly wants: readonly Wanted[]
  /**
   * The key under which the thing was made that it is about: the file that is submitted, the request that money quotes.
   */
  readonly about?: string
  /** The quote of an exchange. */
  readonly quoteId?: string
}

/** A request that sent a command, and its answer. */
export interface Call {
  readonly key: string
  readonly node: string
  readonly start: number
  readonly end: number
  /** Null: no answer. */
  readonly status: number | null
  readonly answer: string
  readonly retryAfter: boolean
}

/** The amounts that a read of a balance showed. */
export interface Look {
  readonly balanceId: string
  readonly node: string
  readonly start: number
  readonly end: number
  readonly posted: bigint
  readonly held: bigint
}

/** A time in which nothing may be made for a thing: somebody was told that it is paused or cancelled. */
export interface Rest {
  /** The key under which the thing was made. */
  readonly about: string
  /**
   * When it was first asked for: from then on what was promised before need not come any more. Infinity when nobody can
   * say.
   */
  readonly asked: number
  /** When that was answered; Infinity when it was not. */
  readonly from: number
  /** When it was asked to go on; Infinity when it was not. */
  readonly until: number
  readonly cancelled: boolean
}

/** The resolution of an exchange of unknown outcome by the operator's staff. */
export interface Resolution {
  readonly exchangeId: string
  readonly outcome: 'completed' | 'failed'
  /** True: this person's word was booked. False: nobody can say, the answer was lost. */
  readonly booked: boolean
}

/** A balance that its owner has closed, or tried to. */
export interface Closing {
  readonly balanceId: string
  /** When the owner was told that it is closed; Infinity: not yet. */
  from: number
}

export interface History {
  readonly resolutions: readonly Resolution[]
  readonly closings: readonly Closing[]
  /** Edits that were answered with a yes although what they change was submitted before. */
  readonly lateEdits: readonly object[]
  readonly commands: readonly Command[]
  readonly calls: readonly Call[]
  readonly looks: readonly Look[]
  readonly rests: readonly Rest[]
}

/** When something was written: by which transaction, and when that was committed. */
interface Written {
  readonly transaction: string
  readonly at: number
}

/** A change of a balance by a transaction: one line of its journal, or a hold. */
export interface Change extends Written {
  readonly balanceId: string
  readonly posted: bigint
  readonly held: bigint
  /** Null for a hold. */
  readonly line: { readonly sequence: bigint; readonly running: bigint } | null
}

/**
 * A decided command, yes or no, as it is remembered. In which order those of a transaction were decided is not written
 * down.
 */
export interface Decided extends Written {
  readonly key: string
  readonly yes: boolean
}

/** Money in the books: a payment, a transfer, an exchange, or what came in. */
export interface Effect {
  readonly id: string
  readonly name: string | null
  readonly kind: MoneyKind
  readonly from: string | null
  readonly to: string | null
  readonly amount: bigint
  readonly status: string
  /** When that was committed which made it. */
  readonly at: number
  /** The request that an arrival counts towards, and when it was counted. */
  readonly counted: { readonly key: string; readonly at: number } | null
  /** The exchange itself, or the one that buys what a payment pays. */
  readonly exchangeId: string | null
  /** An exchange that the partner never heard of: sent once and not again, so it stays in doubt until people decide. */
  readonly lost: boolean
}

/** Why wanted money has not moved, where that is found out after the answer. */
export interface Failure extends Partial<Written> {
  readonly name: string
  /** The key under which the file or the schedule was made. */
  readonly about: string
  /** The answer that was kept for it, where one was. */
  readonly answer: string | null
}

/** A file, a schedule or a request, and what it says itself of what has become of it. */
export interface Thing {
  readonly id: string
  /** The key under which it was made. */
  readonly key: string
  readonly kind: ThingKind
  readonly status: string
  /**
   * Of a file the payments made from its rows, of a schedule those of its days; of a request what was paid, minor
   * units.
   */
  readonly made: bigint
  /** Rows, or days, that came to nothing. */
  readonly failed: bigint
  /** The requested amount, minor units. */
  readonly amount: bigint | null
}

export interface Books {
  readonly balances: readonly { readonly id: string; readonly posted: bigint; readonly held: bigint }[]
  readonly effects: readonly Effect[]
  readonly failures: readonly Failure[]
  readonly things: readonly Thing[]
  readonly changes: readonly Change[]
  readonly decisions: readonly Decided[]
  readonly updates: readonly {
    readonly objectId: string
    readonly version: number
    readonly previous: string | null
    readonly status: string
  }[]
  readonly events: readonly {
    readonly objectId: string
    readonly type: string
    readonly previous: string | null
    readonly status: string
  }[]
}

/** The meaning of answers to a kind of command: the status of a success, and the problem codes of refusals. */
interface Answers {
  readonly yes: 200 | 201 | 202
  readonly noes: readonly string[]
}

export const ANSWERS: Readonly<Record<CommandKind, Answers>> = {
  payment: { yes: 201, noes: ['insufficient-funds'] },
  transfer: { yes: 201, noes: ['insufficient-funds'] },
  conversion: { yes: 201, noes: ['insufficient-funds', 'quote-expired', 'invalid-transition'] },
  draft: { yes: 201, noes: [] },
  draft_submission: { yes: 200, noes: ['insufficient-funds', 'invalid-transition'] },
  // Its quote's time was over, or another had used it.
  exchange: { yes: 201, noes: ['insufficient-funds', 'quote-expired', 'invalid-transition'] },
  arrival: { yes: 202, noes: [] },
  file: { yes: 202, noes: [] },
  // Cancelled meanwhile, or no row of it can be paid.
  submission: { yes: 202, noes: ['invalid-transition'] },
  schedule: { yes: 201, noes: [] },
  // Paused or over, or the last one is being made just now.
  run: { yes: 202, noes: ['simulation-not-possible'] },
  request: { yes: 201, noes: [] },
  cancellation: { yes: 200, noes: ['not-cancellable', 'invalid-transition'] },
}

/** Not decided; the same is asked for again later. */
const LATER: ReadonlySet<string> = new Set(['idempotency-key-in-use', 'rate-limited'])

/** Final: decided, and remembered so. Later: the same request may be sent again. */
export function classOf(
  kind: CommandKind,
  { status, answer }: Pick<Call, 'status' | 'answer'>,
): 'final' | 'later' | 'unexpected' {
  const { yes, noes } = ANSWERS[kind]
  if (status === null || status === 503) return 'later'
  if (status === yes) return 'final'
  const code = problemOf(answer)?.code ?? ''
  if (noes.includes(code)) return 'final'
  return LATER.has(code) ? 'later' : 'unexpected'
}

interface ProblemAnswer {
  readonly code?: string
  readonly available?: { readonly amountMinor: string }
  readonly required?: { readonly amountMinor: string }
}

export function problemOf(answer: string): ProblemAnswer | null {
  try {
    return JSON.parse(answer) as ProblemAnswer
  } catch {
    // Not JSON: certainly no answer of ours.
    return null
  }
}
