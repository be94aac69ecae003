/** The section of the commit statement for postings, which alone move posted amounts (I6). */
import type { CreditRef, DebitRef } from '../../lib/ledger/account-ref.ts'
import type { Posting } from '../../lib/ledger/posting.ts'
import { mayOverdraw } from '../../lib/ledger/postings.ts'
import { computed, NO_COLUMN } from '../commit/columns.ts'
import { alike, gathered, section, type Batch, type Section } from '../commit/section.ts'
import { balanceDelta, CREDIT_FENCES } from './balance-section.ts'

/** A posting with the offsets of its two sides from the locked rows; null for an internal account. */
interface PostingLine {
  readonly posting: Posting
  readonly debitNth: number | null
  readonly debitSum: bigint | null
  readonly creditNth: number | null
  readonly creditSum: bigint | null
}

/** Each member of a posting has a column; its accounts have theirs by their ids. */
type PostingColumn = Exclude<keyof Posting, 'debit' | 'credit'> | 'debitAccount' | 'creditAccount'

export const POSTINGS: Section<PostingLine> = gathered(
  'postings',
  alike(
    section<PostingLine, PostingColumn>(
      'posting',
      {
        posting: NO_COLUMN,
        entryId: computed('uuid', (l) => l.posting.entryId),
        ordinal: computed('smallint', (l) => l.posting.ordinal),
        customerId: computed('uuid', (l) => l.posting.customerId),
        rule: computed('text', (l) => l.posting.rule),
        occurrence: computed('smallint', (l) => l.posting.occurrence),
        sourceObject: computed('text', (l) => l.posting.sourceObject),
        sourceId: computed('uuid', (l) => l.posting.sourceId),
        currency: computed('text', (l) => l.posting.currency),
        amount: computed('bigint', (l) => l.posting.amount),
        debitAccount: computed('uuid', (l) => l.posting.debit.id),
        creditAccount: computed('uuid', (l) => l.posting.credit.id),
        debitNth: 'bigint',
        debitSum: 'bigint',
        creditNth: 'bigint',
        creditSum: 'bigint',
        description: computed('text', (l) => l.posting.description),
        reference: computed('text', (l) => l.posting.reference),
        counterparty: computed('text', (l) => l.posting.counterparty),
        reversalOf: computed('uuid', (l) => l.posting.reversalOf),
        bookedAt: computed('timestamptz', (l) => l.posting.bookedAt),
        valueDate: computed('date', (l) => l.posting.valueDate),
      },
      (source) => `posting_written as (
  insert into posting (entry_id, ordinal, customer_id, rule, occurrence, source_object, source_id, currency, amount,
    debit_account, credit_account, debit_sequence, debit_balance, credit_sequence, credit_balance,
    description, reference, counterparty, reversal_of, booked_at, value_date)
  select u.entry_id, u.ordinal, u.customer_id, u.rule, u.occurrence, u.source_object, u.source_id, u.currency, u.amount,
    u.debit_account, u.credit_account, d.sequence + u.debit_nth, d.posted + u.debit_sum, c.sequence + u.credit_nth,
    c.posted + u.credit_sum, u.description, u.reference, u.counterparty, u.reversal_of, u.booked_at, u.value_date
  from ${source}
  left join locked d on d.id = u.debit_account and u.debit_nth is not null
  left join locked c on c.id = u.credit_account and u.credit_nth is not null
  where (select ok from verdict))`,
    ),
    ['source_object', 'occurrence', 'currency', 'value_date', 'reversal_of'],
  ),
  (posting, batch) => {
    const debit = side(batch, posting.debit, -posting.amount)
    const credit = side(batch, posting.credit, posting.amount)
    if (posting.credit.kind === 'balance') fenceCredit(batch, posting.credit, posting.currency)
    if (posting.debit.kind === 'balance') fenceOwed(batch, posting)
    batch.add(POSTINGS, {
      posting,
      debitNth: debit.nth,
      debitSum: debit.sum,
      creditNth: credit.nth,
      creditSum: credit.sum,
    })
  },
)

const INTERNAL_SIDE = { nth: null, sum: null } as const

/** Books one side of a posting; returns its offset from the locked row, or nulls for an internal account. */
function side(
  batch: Batch,
  account: DebitRef | CreditRef,
  amount: bigint,
): { readonly nth: number | null; readonly sum: bigint | null } {
  if (account.kind === 'internal') return INTERNAL_SIDE
  const delta = balanceDelta(batch, account.id)
  delta.posted += amount
  delta.sequence += 1
  return { nth: delta.sequence, sum: delta.posted }
}

/**
 * Moves the version of a balance that is debited by what it owes, without a decision of its own: no actor then goes on
 * with more money than there is.
 */
function fenceOwed(batch: Batch, { debit, rule }: Posting): void {
  if (debit.id !== batch.decides && mayOverdraw(rule)) balanceDelta(batch, debit.id).version += 1
}

/**
 * Refuses credits to a balance that accepts none any more. @throws when the credit names a deciding balance that does
 * not decide here, a bug
 */
function fenceCredit(batch: Batch, { id, fence }: Extract<CreditRef, { kind: 'balance' }>, currency: string): void {
  if (fence === 'open') batch.add(CREDIT_FENCES, { command: batch.nth, id, currency })
  else if (id !== batch.decides) throw new Error(`The balance ${id} is credited as if it decided this by itself.`)
}
