/**
 * The state tables of the contract for what moves money: payments and their recalls, transfers, exchanges and contracts.
 *
 * A row: its number, the states that it starts from, the trigger, and the state that it leads to. `none` is before the
 * creation; `-` is a refusal that the contract names. The status `processing` of a payment is two states: `queued`
 * before the partner has it, `submitted` from then on. A forward that waits for its first deposit is `awaiting_deposit`,
 * after a margin call it is `called`, or `called_drawn` when it was drawn from before. `ledger`: the posting rules of the
 * row; `events`: what the move itself sends; `hold`: what becomes of the money that is reserved.
 */
import { table, words } from './table.ts'

const COLUMNS = ['id', 'from', 'trigger', 'to', 'ledger', 'events', 'hold'] as const

/** One row of a state table. */
export interface ContractMove {
  readonly id: string
  readonly from: readonly string[]
  readonly trigger: string
  /** The state that follows; `-` when the contract refuses the trigger. */
  readonly to: string
  readonly ledger: readonly string[]
  readonly events: readonly string[]
  /** What becomes of its money in reserve: `placed`, `replaced`, `captured`, `released`, or empty. */
  readonly hold: string
}

/** Reads a state table. */
export const movesOf = (text: string): readonly ContractMove[] =>
  table(COLUMNS, text).map(({ id, from, trigger, to, ledger, events, hold }) => ({
    id,
    from: words(from),
    trigger,
    to,
    ledger: words(ledger),
    events: words(events),
    hold,
  }))

export const PAYMENT_MOVES = movesOf(`
  P1 | none | write a draft | draft
  P2 | draft | edit | draft
  P3 | draft | delete | removed
  P4 | none draft | submit, a tier applies | pending_approval | | payment.created approval.requested | placed
  P5 | none draft | submit, due later | scheduled | | payment.created
  P6 | none draft | submit, due now | queued | | payment.created | placed
  P7 | pending_approval | approve, due now | queued | | payment.status_changed
  P7 | pending_approval | approve, due later | scheduled | | payment.status_changed
  P8 | pending_approval | reject | rejected | | payment.status_changed | released
  P9 | pending_approval | withdraw | cancelled | | payment.status_changed | released
  P10 | scheduled | due, funds present | queued | | payment.status_changed | placed
  P11 | scheduled | due, funds missing at the cut-off | failed | | payment.status_changed payment.failed
  P12 | scheduled | withdraw | cancelled | | payment.status_changed
  P13 | queued | withdraw | cancelled | | payment.status_changed | released
  P14 | queued | screening hit | on_hold | | payment.status_changed compliance_hold.created | replaced
  P15 | on_hold | staff release | queued | | payment.status_changed | replaced
  P16 | on_hold | staff block | failed | | payment.status_changed payment.failed | released
  P17 | queued | hand over | submitted | L10 | | captured
  P18 | submitted | partner confirms | completed | L11 | payment.status_changed payment.completed
  P19 | submitted | partner rejects | failed | L12 | payment.status_changed payment.failed
  P20 | submitted | partner refuses before acceptance | failed | L12 | payment.status_changed payment.failed
  P21 | submitted | timeout | exception | | payment.status_changed
  P21 | submitted | contradictory answer | exception | | payment.status_changed
  P22 | exception | partner has it | submitted | | payment.status_changed
  P22 | exception | partner confirms | completed | L11 | payment.status_changed payment.completed
  P22 | exception | partner rejects | failed | L12 | payment.status_changed payment.failed
  P22 | exception | return | returned | L11 L13 | payment.status_changed payment.returned
  P23 | completed | return | returned | L13 | payment.status_changed payment.returned
  P24 | submitted | return | returned | L11 L13 | payment.status_changed payment.returned
  P25 | on_hold | withdraw | -
`)

/** The recall of a completed payment. Its rows have no numbers in the contract. */
export const RECALL_MOVES = movesOf(`
  recall-1 | none | request | requested
  recall-2 | requested | return | accepted | L13
  recall-3 | requested | partner declines | rejected
  recall-4 | requested | no answer in 15 business days | expired
`)

/** The rails on which a payment can be recalled, and for how long. */
export const RECALL_RAILS = words('sepa sepa_instant swift target2 chaps faster_payments')
export const RECALL_MONTHS = 13

export const TRANSFER_MOVES = movesOf(`
  T1 | none | create, one connection | completed | L20 | transfer.completed
  T2 | none | create, two connections | processing | |  | placed
  T3 | processing | partner confirms | completed | L20 L21 | transfer.status_changed transfer.completed | captured
  T4 | processing | partner refuses | failed | | transfer.status_changed | released
  T5 | processing | timeout | exception | | transfer.status_changed
  T6 | exception | partner confirms | completed | L20 L21 | transfer.status_changed transfer.completed | captured
  T6 | exception | partner refuses | failed | | transfer.status_changed | released
  T7 | processing | screening hit | on_hold | | transfer.status_changed compliance_hold.created | replaced
  T8 | on_hold | staff release | processing | | transfer.status_changed | replaced
  T8 | on_hold | staff block | failed | | transfer.status_changed | released
`)

export const QUOTE_MOVES = movesOf(`
  QU1 | quote | expiry | expired
  QU2 | quote | refresh | new quote
`)

/** Spot exchanges, and drawdowns from contracts (D2), which settle alike. */
export const EXCHANGE_MOVES = movesOf(`
  X1 | none | create, a policy applies | pending_approval | | exchange.status_changed approval.requested | placed
  X2 | none | create | processing | L30 | exchange.status_changed
  X2 | pending_approval | approve | processing | L30 | exchange.status_changed | captured
  X3 D2 | processing | partner settles | completed | L31 L32 L33 L34 | exchange.status_changed exchange.completed
  X4 D2 | processing | partner refuses | failed | L35 | exchange.status_changed
  X5 D2 | processing | timeout | exception | | exchange.status_changed
  X5 D2 | exception | partner settles | completed | L31 L32 L33 L34 | exchange.status_changed exchange.completed
  X5 D2 | exception | partner refuses | failed | L35 | exchange.status_changed
  X6 | pending_approval | cancel | cancelled | | exchange.status_changed | released
  X6 | pending_approval | reject | rejected | | exchange.status_changed | released
`)

export const FORWARD_MOVES = movesOf(`
  F1 | none | create, a deposit is required | awaiting_deposit
  F2 | none | create, no deposit needed | active
  F2 | awaiting_deposit | deposit received | active | L40
  F2 | called | deposit received | active | L40
  F2 | called_drawn | deposit received | partially_drawn | L40
  F3 | awaiting_deposit | deposit deadline | cancelled
  F3 | awaiting_deposit | cancel | cancelled
  F4 | active partially_drawn | draw a part | partially_drawn
  F4 | called | draw a part | called_drawn
  F4 | called_drawn | draw a part | called_drawn
  F4 | active partially_drawn called called_drawn | draw the rest | completed
  F5 | active | margin call | called
  F5 | partially_drawn | margin call | called_drawn
  F6 | active partially_drawn | settlement date, funds present | completed
  F7 | active partially_drawn | settlement date, funds missing | overdue
  F8 | overdue | settlement date, funds present | completed
  F8 | overdue called called_drawn | 2 business days pass | closed_out
`)

export const HELD_RATE_MOVES = movesOf(`
  H1 | none | create | active
  H2 | active partially_drawn | draw a part | partially_drawn
  H2 | active partially_drawn | draw the rest | completed
  H3 | active partially_drawn | its time is over | expired
  H4 | active | cancel | cancelled
`)

export const DRAWDOWN_MOVES = movesOf(`
  D1 | none | create | processing | L30
`)
