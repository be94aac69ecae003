/**
 * The deterministic sandbox for direct debits: the plan of a mandate and of its collections follows from the first word
 * of the counterparty's name (or a token `SBX:<WORD>` in it), then from the amount of the collection, then it is
 * success.
 *
 * Times count from the creation of the mandate or the collection. The due date is not waited for.
 */
import { R_TRANSACTION_TYPES, type RTransactionType } from '../direct-debits/reason-codes.ts'
import { DEBIT_SCHEMES, rTypeOf } from '../direct-debits/schemes.ts'
import type { CounterpartyAccount, MandateDirection } from '../direct-debits/mandate.ts'
import { DIRECT_DEBIT_MESSAGE_TYPES, type DirectDebitMessageType } from '../providers/messages.ts'
import type { MandateScheme } from '../rails/debit-schemes.ts'
import { AMOUNT_FAILURES, sandboxTokens, type CatalogueRule } from './triggers.ts'

/** A mandate becomes active, and a collection is submitted, at this time. */
export const DEBIT_SUBMITTED_MS = 5_000
const COLLECTED_MS = 10_000
const LATER_MS = 30_000

/** A report of the sandbox bank, and its time. */
export interface DebitStep<Event extends DirectDebitMessageType = DirectDebitMessageType> {
  readonly afterMs: number
  readonly event: Event
  /** The scheme's reason; null for an event without one. */
  readonly reasonCode: string | null
  /** How the money came back, or why it did not come; null for other events. */
  readonly type: RTransactionType | null
}
export type MandateStep = DebitStep<Extract<DirectDebitMessageType, `mandate.${string}`>>
export type CollectionStep = DebitStep<Extract<DirectDebitMessageType, `collection.${string}`>>

/** The codes of a scheme for what the words do to a mandate; null: the scheme reports it without one. */
interface WordCodes {
  /** The mandate names an account that does not exist. */
  readonly invalid: string
  /** The counterparty has cancelled the mandate. */
  readonly cancelled: string | null
  /** The counterparty's account has moved. */
  readonly transferred: string | null
}

const SEPA: WordCodes = { invalid: 'AC01', cancelled: 'MD16', transferred: 'MD20' }
const CODES: Readonly<Record<MandateScheme, WordCodes>> = {
  sepa_dd_core: SEPA,
  sepa_dd_b2b: SEPA,
  bacs_dd: { invalid: '5', cancelled: '1', transferred: '3' },
  ach_debit: { invalid: 'R03', cancelled: 'R07', transferred: 'C01' },
  becs_dd: { invalid: '5', cancelled: null, transferred: null },
  pad: { invalid: '912', cancelled: '917', transferred: null },
}

const active: MandateStep = { afterMs: DEBIT_SUBMITTED_MS, event: 'mandate.active', reasonCode: null, type: null }
const collected: CollectionStep = { afterMs: COLLECTED_MS, event: 'collection.collected', reasonCode: null, type: null }
const rejected = (reasonCode: string): CollectionStep => ({
  afterMs: COLLECTED_MS,
  event: 'collection.rejected',
  reasonCode,
  type: 'reject',
})

const lacksFunds = (scheme: MandateScheme): CollectionStep => rejected(DEBIT_SCHEMES[scheme].noFunds)
/** The payer asks for its money; where the scheme gives it no refund, its bank returns the collection. */
function refunded(scheme: MandateScheme, afterMs: number): CollectionStep {
  const { refundReason: reasonCode, windows } = DEBIT_SCHEMES[scheme]
  // The code of an indemnity claim means something else in a return.
  const type = windows.consumer.indemnity_claim === null ? rTypeOf(scheme, reasonCode, true) : 'indemnity_claim'
  return { afterMs, event: 'collection.returned', reasonCode, type }
}

/** The attempt that is planned: 1 is the first one. */
type CollectionPlan = (scheme: MandateScheme, attempt: number) => readonly CollectionStep[]

interface WordRow {
  /** Absent: active after 5 s. */
  readonly mandate?: (codes: WordCodes) => readonly MandateStep[]
  /** Absent: the amount decides, and otherwise the collection is collected. */
  readonly collection?: CollectionPlan
  readonly rule: string
}

/** By the first word of the counterparty's name, upper-case. */
const WORDS: Readonly<Record<string, WordRow>> = {
  SUCCESSFUL: { rule: 'as without a word: the mandate active after 5 s, the collection collected after 10 s' },
  INVALID: {
    mandate: ({ invalid }) => [{ ...active, event: 'mandate.failed', reasonCode: invalid }],
    rule: 'the mandate failed after 5 s (AC01 / AUDDIS 5 / R03)',
  },
  PENNILESS: {
    collection: (scheme) => [lacksFunds(scheme)],
    rule: 'the collection failed after 10 s for lack of funds (AM04 / Bacs 0 / R01)',
  },
  LATE: {
    collection: (scheme) => [
      collected,
      { afterMs: LATER_MS, event: 'collection.returned', reasonCode: DEBIT_SCHEMES[scheme].noFunds, type: 'return' },
    ],
    rule: 'the collection collected, and returned after 30 s (AM04 / Bacs 0 / R01)',
  },
  FICKLE: {
    collection: (scheme) => [collected, refunded(scheme, LATER_MS)],
    rule: 'the collection collected, and refunded after 30 s (MD06 / Bacs indemnity claim / R10; B2B returned MS02)',
  },
  CANCELS: {
    mandate: ({ cancelled }) => [
      active,
      { afterMs: LATER_MS, event: 'mandate.cancelled', reasonCode: cancelled, type: null },
    ],
    rule: 'the mandate active, and cancelled by the payer after 30 s with its pending collections',
  },
  SLOW: {
    mandate: () => [],
    collection: () => [],
    rule: 'the mandate and its collections stay submitted until staff report or a simulation tells their end',
  },
  TRANSFERRED: {
    mandate: ({ transferred }) => [
      active,
      { afterMs: DEBIT_SUBMITTED_MS + LATER_MS, event: 'mandate.amended', reasonCode: transferred, type: null },
    ],
    rule: 'the mandate active; 30 s later its counterparty has another account, and history keeps the earlier one',
  },
  DORMANT: {
    rule: 'the mandate active; expired by the dormancy of its scheme, or by POST /simulations/mandates/{mandateId}/status',
  },
  INSISTS: {
    collection: (scheme) => [
      collected,
      refunded(scheme, COLLECTED_MS + LATER_MS),
      { afterMs: COLLECTED_MS + 2 * LATER_MS, event: 'collection.reinstated', reasonCode: null, type: null },
    ],
    rule: 'the collection collected, returned 30 s later, and reinstated 30 s after that',
  },
  RETRY: {
    collection: (scheme, attempt) => (attempt === 1 ? [lacksFunds(scheme)] : [collected]),
    rule: 'the first attempt fails for lack of funds, the next one is collected (needs retry on the collection)',
  },
}

/** Returns the row of a counterparty: by the first token that is a word, then by the first word of its name. */
function rowOf(counterpartyName: string): WordRow | undefined {
  const first = /^\s*([A-Za-z]+)/.exec(counterpartyName)?.[1]?.toUpperCase()
  const words = [...sandboxTokens(counterpartyName), ...(first === undefined ? [] : [first])]
  const word = words.find((each) => Object.hasOwn(WORDS, each))
  return word === undefined ? undefined : WORDS[word]
}

/**
 * Plans the reports about a mandate; none: it stays submitted. Times count from its creation. The account of a creditor
 * (`pay`) does not move.
 */
export function planMandate(
  scheme: MandateScheme,
  counterpartyName: string,
  direction: MandateDirection,
): readonly MandateStep[] {
  const steps = rowOf(counterpartyName)?.mandate?.(CODES[scheme]) ?? [active]
  return direction === 'pay' ? steps.filter(({ event }) => event !== 'mandate.amended') : steps
}

/** The facts that the plan of a collection depends on. */
export interface PlannedCollection {
  readonly scheme: MandateScheme
  readonly counterpartyName: string
  readonly amountMinor: bigint
  /** 1 for the first attempt. */
  readonly attempt: number
}

/**
 * Plans the reports about a collection after its submission; none: it stays submitted. Times count from the creation of
 * the collection, and for a later attempt from 5 s before it was submitted.
 */
export function planCollection({
  scheme,
  counterpartyName,
  amountMinor,
  attempt,
}: PlannedCollection): readonly CollectionStep[] {
  const byWord = rowOf(counterpartyName)?.collection
  if (byWord !== undefined) return byWord(scheme, attempt)
  const code = AMOUNT_FAILURES.get(amountMinor)
  return code === undefined ? [collected] : [rejected(code)]
}

/** Plans the report about a reversal. Its time counts from the request. */
export const planReversal = (): readonly CollectionStep[] => [
  { afterMs: DEBIT_SUBMITTED_MS, event: 'collection.reversed', reasonCode: null, type: null },
]

/** The accounts at the sandbox bank to which a payer's account moves, two for each scheme. */
const MOVED_TO: Readonly<Record<MandateScheme, readonly [CounterpartyAccount, CounterpartyAccount]>> = {
  sepa_dd_core: [{ iban: 'NL77SBOX0100000001' }, { iban: 'GB48SBOX99000112345678' }],
  sepa_dd_b2b: [{ iban: 'NL77SBOX0100000001' }, { iban: 'GB48SBOX99000112345678' }],
  bacs_dd: [
    { sortCode: '990001', accountNumber: '20000001' },
    { sortCode: '990001', accountNumber: '20000002' },
  ],
  ach_debit: [
    { routingNumber: '099000011', accountNumber: '2000000001' },
    { routingNumber: '099000011', accountNumber: '2000000002' },
  ],
  becs_dd: [
    { bsb: '990001', accountNumber: '20000001' },
    { bsb: '990001', accountNumber: '20000002' },
  ],
  pad: [
    { institutionNumber: '999', transitNumber: '00001', accountNumber: '20000001' },
    { institutionNumber: '999', transitNumber: '00001', accountNumber: '20000002' },
  ],
}

/** Returns the account to which a payer's account moves: never the one that it has. */
export function transferredAccount(scheme: MandateScheme, present: CounterpartyAccount): CounterpartyAccount {
  const [first, second] = MOVED_TO[scheme]
  return first.iban === present.iban && first.accountNumber === present.accountNumber ? second : first
}

// Steps as text: words separated by a space, each `event@ms[:code[:type]]`, for example
// `collection.collected@10000 collection.returned@30000:MD06:refund_authorised`.

/** Writes steps as short text, which `decodeDebitSteps` reads back. */
export function encodeDebitSteps(steps: readonly DebitStep[]): string {
  return steps
    .map(({ event, afterMs, reasonCode, type }) => {
      const code = reasonCode === null && type === null ? '' : `:${reasonCode ?? ''}`
      return `${event}@${afterMs}${code}${type === null ? '' : `:${type}`}`
    })
    .join(' ')
}

const STEP = /^([a-z_.]+)@([0-9]+)(?::([A-Z0-9]*))?(?::([a-z_]+))?$/

/**
 * Reads steps that `encodeDebitSteps` wrote.
 * @throws SyntaxError on any other text: stored plans are never guessed
 */
export function decodeDebitSteps(text: string): DebitStep[] {
  if (text === '') return []
  return text.split(' ').map((word) => {
    const [, event, afterMs, code, type] = STEP.exec(word) ?? []
    const known = DIRECT_DEBIT_MESSAGE_TYPES.find((each) => each === event)
    if (known === undefined) throw new SyntaxError(`sandbox plan: cannot read "${word}"`)
    return {
      afterMs: Number(afterMs),
      event: known,
      reasonCode: code === undefined || code === '' ? null : code,
      type: R_TRANSACTION_TYPES.find((each) => each === type) ?? null,
    }
  })
}

/** Describes these rules, for the catalogue that integrators read. */
export function debitRules(): readonly CatalogueRule[] {
  return [
    'the first word of the counterparty’s name, or a token SBX:<WORD> in it, decides; then the amount of the collection',
    'none: the mandate active after 5 s; the collection submitted after 5 s and collected after 10 s, whatever its due date',
    'a reversal is confirmed after 5 s; a simulation of the status `collected` before that refuses it',
    ...Object.entries(WORDS).map(([word, { rule }]) => `${word[0]}${word.slice(1).toLowerCase()}: ${rule}`),
    ...[...AMOUNT_FAILURES].map(
      ([amount, code]) => `amountMinor ${amount}: the collection failed after 10 s (${code})`,
    ),
  ].map((rule) => ({ topic: 'direct debits', rule }))
}
