/** The sections of the commit statement for payments that wait: for the partner, or for the day they are due. */
import type { Attention, PartnerInstruction } from '../../lib/payments/effects.ts'
import { computed, NO_COLUMN } from '../commit/columns.ts'
import { gathered, insertInto, rowsOf, section, type Section } from '../commit/section.ts'
import { columns, pick } from '../db/columns.ts'
import { PartnerInstructionRow, PaymentDueRow } from './waiting-payment-entities.ts'

const COLUMNS = columns(PartnerInstructionRow)
const CREATED = pick(COLUMNS, ['paymentId', 'shard'])

export const INSTRUCTIONS: Section<PartnerInstruction> = gathered(
  'instructions',
  insertInto(PartnerInstructionRow, { ...CREATED, notBefore: NO_COLUMN }),
  (instruction, batch) =>
    batch.add(instruction.notBefore === undefined ? INSTRUCTIONS : INSTRUCTIONS_LATER, instruction),
)

/** Inserts instructions that are handed to the partner later, from `notBefore` on. */
export const INSTRUCTIONS_LATER = insertInto(
  PartnerInstructionRow,
  { ...CREATED, notBefore: computed<PartnerInstruction>(COLUMNS.notBefore, (i) => i.notBefore ?? null) },
  {},
  'instruction_later',
)

export const INSTRUCTIONS_DONE = rowsOf(
  'instructionsDone',
  section<string, 'paymentId'>(
    'instruction_done',
    { paymentId: computed('uuid', (id) => id) },
    (source, bound) => `instruction_done_written as (
  delete from partner_instruction i using ${source}
  where i.payment_id = u.payment_id and i.payment_id = any(${bound('payment_id')}) and (select ok from verdict))`,
  ),
)

export const ATTENTION = rowsOf(
  'attention',
  section<Attention>(
    'attention',
    pick(COLUMNS, ['paymentId', 'attentionAt']),
    (source, bound) => `attention_written as (
  update partner_instruction i set attention_at = u.attention_at, attempts = i.attempts + 1 from ${source}
  where i.payment_id = u.payment_id and i.payment_id = any(${bound('payment_id')}) and (select ok from verdict))`,
  ),
)

export const PAYMENTS_DUE = rowsOf('paymentsDue', insertInto(PaymentDueRow, columns(PaymentDueRow)))

export const PAYMENTS_DUE_DONE = rowsOf(
  'paymentsDueDone',
  section<string, 'paymentId'>(
    'payment_due_done',
    { paymentId: computed('uuid', (id) => id) },
    (source, bound) => `payment_due_done_written as (
  delete from payment_due d using ${source}
  where d.payment_id = u.payment_id and d.payment_id = any(${bound('payment_id')}) and (select ok from verdict))`,
  ),
)
