/**
 * The deterministic sandbox: the plan of a payment or a transfer on a sandbox connection follows from the payment
 * itself, so a test needs no second call. A token `SBX:<CODE>` (or `SBX/<CODE>`, where a reference allows no colon) in
 * the reference or the recipient's name comes first; then the exact amount in minor units of any currency; then
 * success.
 *
 * A plan is made once, when the payment reaches the sandbox bank, whose book stores the remaining steps as short text.
 * Times count from the moment when the bank has the payment, except where a member says otherwise.
 */
import { MINUTE_MS } from '../base/clock.ts'
import { isIsoOrAchCode } from '../rails/failure-codes.ts'
import { INSTANT_MS, ORDINARY_MS } from '../rails/timing.ts'
import type { PlanStep } from './plan-steps.ts'

const LATER_MS = 10_000
const HOLD_MS = 30_000
const LONG_MS = MINUTE_MS

// The codes for rows that name none: a technical failure, and a return because the account is closed.
const TECHNICAL_CODE = 'TECH'
const RETURN_CODE = 'AC04'

const RETURN_FEE_MINOR = 1000n

/** The plan of one payment. */
export interface PaymentPlan {
  /** The hold by screening, before the hand-over. `decision` null: staff must decide. Its time counts from the hold. */
  readonly hold: {
    readonly decision: { readonly afterMs: number; readonly outcome: 'released' | 'blocked' } | null
  } | null
  /** The time in the queue, with position and estimate, before the hand-over. */
  readonly queueMs: number
  /** The bank's answer to the hand-over: accepted, definitely refused, or no answer in time. */
  readonly submit: 'accepted' | 'refused' | 'timeout'
  /** The reason of a refusal; null otherwise. */
  readonly refusalCode: string | null
  /** The bank's reports afterwards, in order. Empty: none until one is simulated. */
  readonly steps: readonly PlanStep[]
  /** The answer to an enquiry after a timeout. Null: none, until it is simulated or staff resolve the exception. */
  readonly reconcile: {
    readonly afterMs: number
    readonly outcome: 'settled' | 'rejected'
    readonly schemeCode: string | null
  } | null
  /** The answer to a recall, if one is requested. Its time counts from the request. */
  readonly recall: {
    readonly afterMs: number
    readonly outcome: 'accepted' | 'rejected'
    readonly schemeCode: string | null
  }
}

/** The facts that a plan depends on. */
export interface TriggerFacts {
  readonly amountMinor: bigint
  readonly reference: string | null
  readonly recipientName: string
  /** Whether the payment travels by an instant rail. */
  readonly instant: boolean
}

type Outcome = (facts: TriggerFacts, defaultMs: number) => Partial<Omit<PaymentPlan, 'recall'>>

const settled = (afterMs: number): PlanStep => ({ afterMs, event: 'settled', schemeCode: null, amountMinor: null })
const rejected = (afterMs: number, schemeCode: string): PlanStep => ({
  afterMs,
  event: 'rejected',
  schemeCode,
  amountMinor: null,
})
const returned = (afterMs: number, schemeCode: string, amountMinor: bigint): PlanStep => ({
  afterMs,
  event: 'returned',
  schemeCode,
  amountMinor,
})

const failsWith =
  (schemeCode: string): Outcome =>
  (_, ms) => ({ steps: [rejected(ms, schemeCode)] })

const returnsWith =
  (schemeCode: string): Outcome =>
  ({ amountMinor }, ms) => ({ steps: [settled(ms), returned(ms + LATER_MS, schemeCode, amountMinor)] })

// Banks on the way keep a fixed charge; for a payment no larger than the charge they keep half.
const returnsLessFee: Outcome = ({ amountMinor }, ms) => {
  const fee = amountMinor > RETURN_FEE_MINOR ? RETURN_FEE_MINOR : amountMinor / 2n
  return { steps: [settled(ms), returned(ms + LATER_MS, RETURN_CODE, amountMinor - fee)] }
}

const timesOut =
  (outcome: 'settled' | 'rejected' | null): Outcome =>
  () => ({
    submit: 'timeout',
    steps: [],
    reconcile:
      outcome === null
        ? null
        : { afterMs: LONG_MS, outcome, schemeCode: outcome === 'rejected' ? TECHNICAL_CODE : null },
  })

const held =
  (outcome: 'released' | 'blocked' | null): Outcome =>
  () => ({ hold: { decision: outcome === null ? null : { afterMs: HOLD_MS, outcome } } })

interface TriggerRow {
  readonly amountMinor: bigint
  /** The token with the same effect, if there is one; for failures it is the scheme's code. */
  readonly token: string | null
  readonly outcome: Outcome
  readonly rule: string
}

const fails = (
  amountMinor: bigint,
  code: string,
  failure: string,
  detail = '',
): TriggerRow & { readonly token: string } => ({
  amountMinor,
  token: code,
  outcome: failsWith(code),
  rule: `failed ${failure} (${code})${detail}`,
})

const QUEUED_AMOUNT = 1703n

const FAILURE_ROWS: readonly (TriggerRow & { readonly token: string })[] = [
  fails(1301n, 'AC01', 'invalid_account_details'),
  fails(1302n, 'AC04', 'account_closed'),
  fails(1303n, 'AC06', 'account_blocked'),
  fails(1304n, 'AM04', 'insufficient_funds', ', at the partner; the payer’s own funds come back'),
  fails(1305n, 'BE01', 'name_mismatch'),
  fails(1306n, 'AG01', 'account_not_eligible'),
  fails(1307n, 'RC01', 'invalid_account_details'),
  fails(1308n, 'RR04', 'declined'),
  fails(1309n, 'MS03', 'refused_by_recipient_bank'),
  fails(1310n, 'AM05', 'duplicate'),
  fails(1311n, 'AM02', 'amount_limit_exceeded'),
  fails(1312n, 'TM01', 'cutoff_missed'),
]

/** The scheme's codes of the amounts that fail, for payments and for collections. */
export const AMOUNT_FAILURES: ReadonlyMap<bigint, string> = new Map(
  FAILURE_ROWS.map(({ amountMinor, token }) => [amountMinor, token]),
)

const PAYMENT_ROWS: readonly TriggerRow[] = [
  ...FAILURE_ROWS,
  {
    amountMinor: 1401n,
    token: 'RET-AC04',
    outcome: returnsWith('AC04'),
    rule: 'completed, returned in full after 10 s (AC04)',
  },
  {
    amountMinor: 1402n,
    token: 'RET-MS03',
    outcome: returnsWith('MS03'),
    rule: 'completed, returned in full after 10 s (MS03)',
  },
  {
    amountMinor: 1403n,
    token: 'RET-FEE',
    outcome: returnsLessFee,
    rule: 'completed, returned after 10 s less 1000 minor units (less half when the amount is no larger)',
  },
  {
    amountMinor: 1404n,
    token: 'RET-EARLY',
    outcome: ({ amountMinor }, ms) => ({ steps: [returned(ms, RETURN_CODE, amountMinor)] }),
    rule: 'returned before it is confirmed',
  },
  {
    amountMinor: 1501n,
    token: 'TIMEOUT-OK',
    outcome: timesOut('settled'),
    rule: 'exception; reconciliation completes it after 60 s',
  },
  {
    amountMinor: 1502n,
    token: 'TIMEOUT-FAIL',
    outcome: timesOut('rejected'),
    rule: 'exception; reconciliation fails it after 60 s',
  },
  {
    amountMinor: 1503n,
    token: 'TIMEOUT',
    outcome: timesOut(null),
    rule: 'exception until simulated or resolved by staff',
  },
  {
    amountMinor: 1504n,
    token: 'PROVIDER-502',
    outcome: () => ({ submit: 'refused', refusalCode: TECHNICAL_CODE, steps: [] }),
    rule: 'the partner refuses it at submission: failed technical_error',
  },
  { amountMinor: 1601n, token: 'HOLD-RELEASE', outcome: held('released'), rule: 'on_hold, released after 30 s' },
  { amountMinor: 1602n, token: 'HOLD', outcome: held(null), rule: 'on_hold until staff decide' },
  {
    amountMinor: 1603n,
    token: 'HOLD-BLOCK',
    outcome: held('blocked'),
    rule: 'on_hold, blocked after 30 s: failed declined',
  },
  {
    amountMinor: 1701n,
    token: 'STUCK',
    outcome: () => ({ steps: [] }),
    rule: 'stays processing (submitted) until its status is simulated',
  },
  { amountMinor: 1702n, token: 'SLOW', outcome: () => ({ steps: [settled(LONG_MS)] }), rule: 'completes after 60 s' },
  {
    amountMinor: QUEUED_AMOUNT,
    token: 'QUEUE',
    outcome: () => ({ queueMs: LONG_MS }),
    rule: 'stays queued with position and estimate for 60 s',
  },
]

const BY_AMOUNT: ReadonlyMap<bigint, Outcome> = new Map(PAYMENT_ROWS.map((row) => [row.amountMinor, row.outcome]))
const BY_TOKEN: ReadonlyMap<string, Outcome> = new Map(
  PAYMENT_ROWS.flatMap((row) => (row.token === null ? [] : [[row.token, row.outcome]])),
)

const RECALL_REJECTED_AMOUNT = 1802n
const RECALL_REJECTED_CODE = 'CUST'

// In a recipient's name these tokens control the check of the payee and approvals, not the payment.
const NAME_ONLY: ReadonlySet<string> = new Set([
  'MBAM',
  'BANM',
  'PANM',
  'BAMM',
  'PAMM',
  'ANNM',
  'AC01',
  'ACNS',
  'OPTO',
  'CASS',
  'SCNS',
  'IVCR',
  'NOAP',
  'APPROVE',
  'REJECT',
])

const TOKEN = /SBX[:/]([A-Z0-9]+(?:-[A-Z0-9]+)*)/g

/** Returns the codes of all `SBX:` and `SBX/` tokens in a text, upper-case and in order. */
export function sandboxTokens(text: string): readonly string[] {
  // Nearly every text has no token, and this test is far cheaper than the search.
  if (!/sbx/i.test(text)) return []
  return Array.from(text.toUpperCase().matchAll(TOKEN), (match) => match[1]!)
}

/** Tells whether a text has the token `SBX:<code>` or `SBX/<code>`, in any case. `code` is upper-case. */
export function hasSandboxToken(text: string, code: string): boolean {
  return sandboxTokens(text).includes(code)
}

// RET-<code> returns the payment with any listed code, as a bare code fails it.
function outcomeOf(token: string): Outcome | null {
  const known = BY_TOKEN.get(token)
  if (known !== undefined) return known
  if (isIsoOrAchCode(token)) return failsWith(token)
  if (token.startsWith('RET-') && isIsoOrAchCode(token.slice(4))) return returnsWith(token.slice(4))
  return null
}

/**
 * Makes the sandbox's plan for a payment. Several tokens combine: `SBX:HOLD-RELEASE SBX:AC04` is held, released, and
 * then fails. Where two tokens decide the same thing the first one counts, the reference before the name. Unknown
 * tokens are ignored. The amount counts only when no token decides, except for the answer to a recall, which only the
 * amount decides.
 */
export function planOutcome(facts: TriggerFacts): PaymentPlan {
  const defaultMs = facts.instant ? INSTANT_MS : ORDINARY_MS
  const tokens = [
    ...sandboxTokens(facts.reference ?? ''),
    ...sandboxTokens(facts.recipientName).filter((token) => !NAME_ONLY.has(token)),
  ]
  const named = tokens.map(outcomeOf).filter((outcome) => outcome !== null)
  const byAmount = BY_AMOUNT.get(facts.amountMinor)
  const outcomes = named.length > 0 ? named : byAmount === undefined ? [] : [byAmount]
  let plan: PaymentPlan = {
    hold: null,
    queueMs: 0,
    submit: 'accepted',
    refusalCode: null,
    steps: [settled(defaultMs)],
    reconcile: null,
    recall: planRecall(facts.amountMinor),
  }
  // Backwards, so that of two outcomes that decide the same thing the first one wins. An outcome with steps replaces
  // the whole result, so a timeout never mixes with the steps of a return.
  for (const outcome of outcomes.toReversed()) {
    const decided = outcome(facts, defaultMs)
    plan =
      decided.steps === undefined
        ? { ...plan, ...decided }
        : { ...plan, submit: 'accepted', refusalCode: null, reconcile: null, ...decided }
  }
  return plan
}

/** Plans the sandbox's answer to a recall of a payment of this amount; its time counts from the request. */
export function planRecall(amountMinor: bigint): PaymentPlan['recall'] {
  return amountMinor === RECALL_REJECTED_AMOUNT
    ? { afterMs: LATER_MS, outcome: 'rejected', schemeCode: RECALL_REJECTED_CODE }
    : { afterMs: LATER_MS, outcome: 'accepted', schemeCode: null }
}

/**
 * Returns the time that the sandbox keeps a payment in the queue before its hand-over, milliseconds. Cheap for payments
 * without a trigger.
 */
export function queueDelayMs(facts: Omit<TriggerFacts, 'instant'>): number {
  const mayWait =
    facts.amountMinor === QUEUED_AMOUNT || /sbx/i.test(facts.reference ?? '') || /sbx/i.test(facts.recipientName)
  return mayWait ? planOutcome({ ...facts, instant: true }).queueMs : 0
}

/** The plan of a transfer between two balances of one customer. */
export interface TransferPlan {
  /** Whether the partner makes it even where both balances are on one connection. */
  readonly viaPartner: boolean
  readonly submit: 'accepted' | 'timeout'
  readonly steps: readonly PlanStep[]
  readonly reconcile: PaymentPlan['reconcile']
}

/**
 * Makes the sandbox's plan for a transfer: 1301 is processed and fails, 1501 becomes an exception that completes after
 * 60 s, and every other amount settles. Transfers are book entries at the partner, so they are as fast as an instant
 * rail.
 */
export function planTransfer(amountMinor: bigint): TransferPlan {
  if (amountMinor === 1301n)
    return { viaPartner: true, submit: 'accepted', steps: [rejected(INSTANT_MS, 'AC01')], reconcile: null }
  if (amountMinor === 1501n) {
    return {
      viaPartner: true,
      submit: 'timeout',
      steps: [],
      reconcile: { afterMs: LONG_MS, outcome: 'settled', schemeCode: null },
    }
  }
  return { viaPartner: false, submit: 'accepted', steps: [settled(INSTANT_MS)], reconcile: null }
}

// Steps as text: words separated by a space, each `event@ms[:code[:amount]]`, for example
// `settled@2000 returned@12000:AC04:403`.

/** One row of the catalogue that tells integrators the rules of the sandbox. */
export interface CatalogueRule {
  readonly topic: string
  readonly rule: string
}

/** Describes the rules of payments and transfers, from the same rows that are applied. */
export function catalogueRules(): readonly CatalogueRule[] {
  const payments = PAYMENT_ROWS.map((row) => ({
    topic: 'payments',
    rule: `amountMinor ${row.amountMinor}${row.token === null ? '' : ` or SBX:${row.token}`}: ${row.rule}`,
  }))
  return [
    {
      topic: 'payments',
      rule: 'SBX:<CODE> or SBX/<CODE> in the reference or the recipient’s name, any case, is read before the amount; several combine',
    },
    { topic: 'payments', rule: 'any other: processing, then completed after 2 s on instant rails and 10 s on others' },
    ...payments,
    { topic: 'payments', rule: 'SBX:<any ISO 20022 or ACH reason code>: failed with the failure code it maps to' },
    { topic: 'payments', rule: 'amountMinor 1801 with a recall: accepted after 10 s' },
    {
      topic: 'payments',
      rule: 'amountMinor 1802 with a recall: rejected (CUST) after 10 s; every other amount: accepted',
    },
    { topic: 'transfers', rule: 'amountMinor 1301: processing, then failed' },
    {
      topic: 'transfers',
      rule: 'amountMinor 1601 to 1603, or their tokens in the reference: on_hold, and then as payments are',
    },
    { topic: 'transfers', rule: 'amountMinor 1501: processing, then exception, completed after 60 s' },
  ]
}
