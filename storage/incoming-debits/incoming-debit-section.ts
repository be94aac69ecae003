/** The sections of the commit statement for direct debits of the payer's side, and the mandates that they name. */
import type {
  IncomingDebitChange,
  IncomingDebitRow,
  PayerMandateRow as MandateRow,
} from '../../lib/incoming-debits/effects.ts'
import { NO_COLUMN, type Columns } from '../commit/columns.ts'
import {
  changed,
  commandConflict,
  fence,
  gathered,
  insertInto,
  moves,
  NO_DETAIL,
  rowsOf,
  section,
  waitsFor,
  type Changeable,
  type Section,
  type VersionRow,
  versionFence,
} from '../commit/section.ts'
import { columns, pick, without } from '../db/columns.ts'
import { MANDATE_FENCES } from '../direct-debits/mandate-section.ts'
import { IncomingDebit } from './incoming-debit-entity.ts'
import { PayerMandateRow } from './payer-mandate-entity.ts'

const COLUMNS = columns(IncomingDebit)

export const INCOMING_DEBITS = rowsOf(
  'incomingDebits',
  insertInto(IncomingDebit, without(COLUMNS, ['version', 'updatedAt']) satisfies Columns<IncomingDebitRow>, {
    version: '1',
    updated_at: 'u.received_at',
  }),
)

const CHANGEABLE = pick(COLUMNS, [
  'dueAt',
  'refusal',
  'reasonCode',
  'entryId',
  'backEntryId',
  'debitedAt',
  'endedAt',
  'answer',
  'answerDueAt',
]) satisfies Changeable<IncomingDebitChange>

export const INCOMING_DEBIT_CHANGES: Section<IncomingDebitChange> = gathered(
  'incomingDebitChanges',
  moves<IncomingDebitChange>(
    'incoming_debit_changed',
    CHANGEABLE,
    (source, bound) => `incoming_debit_changed_written as (
  update incoming_debit d set status = u.status, version = d.version + 1, updated_at = u.updated_at, ${changed(CHANGEABLE, 'd')}
  from ${source} where d.id = u.id and d.id = any(${bound('id')}) and (select ok from verdict))`,
  ),
  (change, batch) => {
    batch.add(INCOMING_DEBIT_CHANGES, change)
    batch.change(INCOMING_DEBIT_FENCES, change.id, change.version)
  },
)

/** Writes mandates whole: the first debit of a mandate makes its row, later ones change it. */
export const PAYER_MANDATES: Section<MandateRow> = gathered(
  'payerMandates',
  section<MandateRow>(
    'payer_mandate',
    { ...columns(PayerMandateRow), consent: NO_COLUMN } satisfies Columns<MandateRow>,
    (source) => `payer_mandate_written as (
  insert into payer_mandate as m (id, customer_id, balance_id, scheme, creditor_name, creditor_id, reference, status, last_due_date, version, updated_at)
  select u.id, u.customer_id, u.balance_id, u.scheme, u.creditor_name, u.creditor_id, u.reference, u.status, u.last_due_date, 1, u.updated_at
  from ${source} where (select ok from verdict)
  on conflict (id) do update set status = excluded.status, last_due_date = excluded.last_due_date, creditor_name = excluded.creditor_name,
    version = m.version + 1, updated_at = excluded.updated_at)`,
  ),
  (mandate, batch) => {
    batch.add(PAYER_MANDATES, mandate)
    batch.change(PAYER_MANDATE_FENCES, mandate.id, mandate.version)
    const { consent } = mandate
    if (consent !== null) batch.change(MANDATE_FENCES, consent.id, consent.version)
  },
)

// ── Fences and stale facts
// ────────────────────────────────────────────────────────────────────────────────────────────

const DEBIT_STALE = commandConflict('incoming_debit_stale')

/** Locks the debits that change, and compares their versions. */
export const INCOMING_DEBIT_FENCES = versionFence(DEBIT_STALE, 'incoming_debit', 'd')

/** Locks the mandates that change, and compares their versions; a mandate that is not written has the version 0. */
export const PAYER_MANDATE_FENCES = {
  ...fence<VersionRow, ReturnType<typeof DEBIT_STALE.of>>(
    DEBIT_STALE,
    'payer_mandate_fence',
    { turn: 'integer', id: 'uuid', version: 'integer' },
    (source) => `${NO_DETAIL} from ${source} left join locked_payer_mandate l on l.id = u.id
  where coalesce(l.version, 0) <> u.version`,
  ),
  lock: {
    name: 'locked_payer_mandate',
    sql: (ids: string, after: readonly string[]) => `
  select m.id, m.version from payer_mandate m where m.id = any(${ids}) ${waitsFor(after)} order by m.id for update`,
  },
}
