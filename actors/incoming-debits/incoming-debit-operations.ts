/** Commands of incoming debits, for the HTTP layer. Each is decided under the lock of the debit's row. */
import { ProblemError, refuseNotFound, refuseTransition, type Problem } from '../../lib/base/problems.ts'
import type { Command, CommandAnswer, Idempotency, Versioned } from '../../lib/commands/command.ts'
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Effects } from '../../lib/decisions/effects.ts'
import type { PayerMandateStatus } from '../../lib/incoming-debits/effects.ts'
import type { IncomingDebitRecord } from '../../lib/incoming-debits/incoming-debit.ts'
import { changedDebit, mayMove, refundProblem } from '../../lib/incoming-debits/incoming-debit-moves.ts'
import type {
  DebitControls,
  DebitControlsWrite,
  IncomingDebit,
  IncomingDebitRefund,
  IncomingDebitRefusal,
  SimIncomingDebit,
} from '../../lib/incoming-debits/incoming-debit-schema.ts'
import { REFUSALS } from '../../lib/incoming-debits/refusals.ts'
import { dueMoment } from '../../lib/incoming-debits/schemes.ts'
import { together } from '../../lib/decisions/merge.ts'
import { through, type TransactionClient } from '../../storage/db/transaction.ts'
import { getIncomingDebit } from '../../storage/incoming-debits/incoming-debit-queries.ts'
import { lockIncomingDebit, lockUnconfirmed } from '../../storage/incoming-debits/incoming-debits.ts'
import { payerMandates } from '../../storage/incoming-debits/payer-mandates.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import { recordChange, type ChangeTransaction } from '../commands/changes.ts'
import { decideOnce } from '../commands/run-once.ts'
import { auditCaller } from '../commands/trail.ts'
import { updateDebitControls } from './debit-controls.ts'
import { simulateDebit, type SimulateDebitDeps } from './simulate-debit.ts'
import { writeMove } from './write-move.ts'

/** Commands of incoming debits. Every refusal is thrown as a problem. */
export interface IncomingDebitCommands {
  /** Refuses a debit before its due date (MS02). */
  refuse(by: Caller, id: string, command: Command<IncomingDebitRefusal>): Promise<CommandAnswer<IncomingDebit, 200>>
  /** Confirms the mandate of a debit, and with it every debit that waits for the confirmation. */
  confirm(by: Caller, id: string, command: Command<unknown>): Promise<CommandAnswer<IncomingDebit, 200>>
  /** Has a debit refunded (L61) within the window of its reason. */
  refund(by: Caller, id: string, command: Command<IncomingDebitRefund>): Promise<CommandAnswer<IncomingDebit, 200>>
  /** Changes the controls of a balance. */
  updateControls(
    by: Caller<'person'>,
    balanceId: string,
    body: DebitControlsWrite,
    expected: number | bigint | null,
  ): Promise<Versioned<DebitControls>>
  /** Simulates a direct debit from a balance. */
  simulateDebit(
    by: Caller,
    body: SimIncomingDebit,
    idempotency: Idempotency | null,
  ): Promise<CommandAnswer<SimulationResult, 202>>
}

export interface IncomingDebitCommandsDeps extends SimulateDebitDeps {
  /** Internal accounts, read within the transaction of each decision. */
  readonly accounts: Pick<InternalAccountCache, 'within'>
}

const must = (problem: Problem | null): void => {
  if (problem !== null) throw new ProblemError(problem)
}

/** Creates the commands. */
export function createIncomingDebitCommands(deps: IncomingDebitCommandsDeps): IncomingDebitCommands {
  /** Decides on a debit of the caller in the transaction of its answer, once for each key. */
  function decideOn(
    by: Caller,
    id: string,
    command: Pick<Command<unknown>, 'idempotency'>,
    action: 'incoming_debit.confirmed' | 'incoming_debit.refused' | 'incoming_debit.refund_requested',
    decide: (tx: ChangeTransaction, record: IncomingDebitRecord) => Promise<object>,
  ): Promise<CommandAnswer<IncomingDebit, 200>> {
    return decideOnce(deps, command, 200, async (client) => {
      const tx = { client, ids: deps.ids, now: deps.clock.now() }
      const record = await lockIncomingDebit(client, id)
      if (record === null || by.tenant.kind !== 'customer' || record.customerId !== by.tenant.id) refuseNotFound()
      const after = await decide(tx, record)
      await recordChange(tx, auditCaller(by), record.customerId, {
        action,
        object: { type: 'incoming_debit', id },
        before: { status: record.status },
        after,
      })
      return { shown: (await getIncomingDebit(client, by.tenant, id)) ?? refuseNotFound(), tagged: true }
    })
  }

  return {
    refuse: (by, id, command) =>
      decideOn(by, id, command, 'incoming_debit.refused', async (tx, record) => {
        must(mayMove(record, 'refuse'))
        if (record.status === 'announced' && (record.dueAt ?? 0) <= tx.now)
          refuseTransition(
            'The due date of the debit has begun; it can be refunded once it is taken.',
            record.status,
            [],
          )
        const { cancelMandate = false } = command.body
        await writeMove(deps, tx, record, {
          move: 'refuse',
          given: { refusal: 'refused_by_customer', reasonCode: REFUSALS.refused_by_customer.code },
          also: cancelMandate ? await mandateMoved(tx, record, 'cancelled') : {},
        })
        return { status: 'refused', cancelMandate }
      }),
    confirm: (by, id, command) =>
      decideOn(by, id, command, 'incoming_debit.confirmed', async (tx, record) => {
        must(mayMove(record, 'confirm'))
        await confirmMandate(deps, tx, record)
        return { status: 'announced', mandateReference: record.mandateReference }
      }),
    refund: (by, id, command) =>
      decideOn(by, id, command, 'incoming_debit.refund_requested', async (tx, record) => {
        const { reasonCode } = command.body
        must(refundProblem(record, reasonCode, tx.now))
        await writeMove(deps, tx, record, {
          move: 'refund',
          given: { reasonCode },
          // A customer that has given no mandate is not debited under it again.
          also: reasonCode === 'MD01' ? await mandateMoved(tx, record, 'cancelled') : {},
        })
        return { status: 'refunded', reasonCode }
      }),
    updateControls: (by, balanceId, body, expected) => updateDebitControls(deps, by, balanceId, body, expected),
    simulateDebit: (by, body, idempotency) => simulateDebit(deps, by, body, idempotency),
  }
}

/** Makes the mandate's row with another status; nothing for a debit that names no mandate. */
async function mandateMoved(
  { client, now }: Pick<ChangeTransaction, 'client' | 'now'>,
  { mandateId }: Pick<IncomingDebitRecord, 'mandateId'>,
  status: PayerMandateStatus,
): Promise<Pick<Effects, 'payerMandates'>> {
  if (mandateId === null) return {}
  const mandate = await mandateOf(client, mandateId)
  return mandate.status === status ? {} : { payerMandates: [{ ...mandate, status, consent: null, updatedAt: now }] }
}

async function mandateOf(client: TransactionClient, mandateId: string) {
  const mandate = (await payerMandates(through(client), [mandateId])).get(mandateId)
  if (mandate === undefined) throw new Error(`The mandate ${mandateId} of a debit is gone.`)
  return mandate
}

/** Confirms the mandate of a debit. All debits that wait for it go on: those that are due are taken at once. */
async function confirmMandate(
  { accounts }: Pick<IncomingDebitCommandsDeps, 'accounts'>,
  tx: ChangeTransaction,
  { mandateId }: IncomingDebitRecord,
): Promise<void> {
  const { client, ids, now } = tx
  let effects: Effects = await mandateMoved(tx, { mandateId }, 'confirmed')
  for (const debit of await lockUnconfirmed(client, mandateId as string)) {
    const internal = await accounts.within(client).accounts(debit)
    const dueAt = debit.isBooked ? now : Math.max(now, dueMoment(debit.scheme, debit.dueDate))
    effects = together(effects, changedDebit(debit, 'confirm', { dueAt }, { accounts: internal, ids, now }))
  }
  await writeEffects(tx, effects)
}
