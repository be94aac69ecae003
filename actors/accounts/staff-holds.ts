/**
 * Freezing of balances and holds on them by the operator's staff. Each is decided under the lock of the balance, whose
 * version moves with it, so that no actor of any node decides a debit on the state before. Payments that wait for the bank
 * keep their holds and their places in the queue until the freeze ends (lib/payments/payment-moves.ts).
 */
import { moneyJson } from '../../lib/base/money.ts'
import { timestamp } from '../../lib/base/clock.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { ProblemError, refuseField, refuseNotFound, refuseTransition } from '../../lib/base/problems.ts'
import { insufficientFunds } from '../../lib/balances/decision.ts'
import { moveFreeze, STAFF_HOLD_DESCRIPTION, type StaffHoldRecord } from '../../lib/balances/staff-hold.ts'
import type { FreezeReason, StaffHold, StaffHoldCreate } from '../../lib/balances/staff-hold-schema.ts'
import type { Balance } from '../../lib/balances/balance-schema.ts'
import type { Command, CommandAnswer, Versioned } from '../../lib/commands/command.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { ListResult } from '../../lib/contract/list.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import {
  endStaffHold,
  findStaffHold,
  insertStaffHold,
  lockBalanceOfOperator,
  lockStaffHold,
  setFrozen,
} from '../../storage/balances/staff-holds.ts'
import type { BalanceListQuery } from '../../storage/balances/balance-queries.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import { SYSTEM, type AuditBy } from '../../storage/trail/trail.ts'
import { recordChange, runChange, type ChangeDeps, type ChangeTransaction } from '../commands/changes.ts'
import { decideOnce, type RunOnceDeps } from '../commands/run-once.ts'
import { auditCaller } from '../commands/trail.ts'

export interface StaffHoldDeps extends ChangeDeps, RunOnceDeps {
  readonly queries: { listBalances(query: BalanceListQuery): Promise<ListResult<Balance>> }
}

/** The writes. Every refusal is thrown as a problem. */
export interface StaffHoldCommands {
  /** @throws ProblemError `not-found`, `invalid-transition` */
  freeze(by: Caller<'person'>, id: string, move: 'freeze' | 'unfreeze', body: FreezeReason): Promise<Balance>
  /** @throws ProblemError `not-found`, `invalid-transition`, `insufficient-funds`, `validation-error` */
  hold(
    by: Caller<'person'>,
    command: Command<StaffHoldCreate>,
    balanceId: string,
  ): Promise<CommandAnswer<StaffHold, 201>>
  /** @throws ProblemError `not-found`, `invalid-transition` */
  releaseHold(by: Caller<'person'>, id: string, body: FreezeReason): Promise<Versioned<StaffHold>>
}

/** Creates the commands. */
export function createStaffHoldCommands(deps: StaffHoldDeps): StaffHoldCommands {
  return {
    freeze: (by, id, move, body) => freezeBalance(deps, by, id, move, body),
    hold: (by, command, balanceId) => placeHold(deps, by, command, balanceId),
    releaseHold: (by, id, body) =>
      runChange(deps, async (tx) => {
        const found = (await lockStaffHold(tx.client, by.tenant.id, id)) ?? refuseNotFound()
        if (found.status !== 'active') refuseTransition(`The hold is ${found.status}.`, found.status, ['active'])
        return staffHoldJson(await endHold(tx, found, { status: 'released', reason: body.reason }, auditCaller(by)))
      }),
  }
}

/** Creates the reads: the holds that staff have placed. */
export function createStaffHoldReads({ database }: Pick<ChangeDeps, 'database'>) {
  return {
    /** Null when the operator has no such hold. */
    async getStaffHold(tenant: Tenant, id: string): Promise<Versioned<StaffHold> | null> {
      const found = await findStaffHold(database.pool, tenant.id, id)
      return found === null ? null : staffHoldJson(found)
    },
  }
}

async function freezeBalance(
  deps: StaffHoldDeps,
  by: Caller<'person'>,
  id: string,
  move: 'freeze' | 'unfreeze',
  { reason }: FreezeReason,
): Promise<Balance> {
  await runChange(deps, async (tx) => {
    const { client, now } = tx
    const before = (await lockBalanceOfOperator(client, by.tenant.id, id)) ?? refuseNotFound()
    const moved = moveFreeze(before, move)
    if ('refused' in moved) throw new ProblemError(moved.refused)
    await setFrozen(client, id, { status: moved.status, now })
    // In the trail of the operator: the reason may be an investigation.
    await recordChange(tx, auditCaller(by), by.tenant.id, {
      action: move === 'freeze' ? 'balance.frozen' : 'balance.unfrozen',
      object: { type: 'balance', id },
      before: { status: before.status },
      after: { status: moved.status, reason },
    })
  })
  const { rows } = await deps.queries.listBalances({
    tenant: by.tenant,
    filters: { id: [id] },
    metadata: [],
    sort: 'currency',
    limit: 1,
    position: null,
    withTotal: false,
    q: null,
  })
  return rows[0] ?? refuseNotFound()
}

async function placeHold(
  deps: StaffHoldDeps,
  by: Caller<'person'>,
  command: Command<StaffHoldCreate>,
  balanceId: string,
): Promise<CommandAnswer<StaffHold, 201>> {
  const { ids, clock } = deps
  const { subjectType, amount: money, reason, expiresAt: until = null } = command.body
  return await decideOnce(deps, command, 201, async (client) => {
    const tx: ChangeTransaction = { client, ids, now: clock.now() }
    const { now } = tx
    const balance = (await lockBalanceOfOperator(client, by.tenant.id, balanceId)) ?? refuseNotFound()
    const amount = BigInt(money.amountMinor)
    const expiresAt = until === null ? null : Date.parse(until)
    if (money.currency !== balance.currency)
      refuseField('/amount/currency', 'currency_mismatch', `The balance is in ${balance.currency}.`)
    if (expiresAt !== null && subjectType !== 'manual')
      refuseField('/expiresAt', 'not_applicable', 'Staff release the hold of a legal order.')
    if (expiresAt !== null && expiresAt <= now) refuseField('/expiresAt', 'in_past', 'Must be in the future.')
    if (balance.status === 'closed')
      refuseTransition('The balance is closed.', 'closed', ['active', 'frozen', 'closing'])
    if (amount > balance.available) throw new ProblemError(insufficientFunds(balance, amount))
    const id = ids.next()
    const { customerId, operatorId, shard, currency, version } = balance
    await writeEffects(
      tx,
      {
        holds: [
          {
            id,
            balanceId,
            customerId,
            amount,
            subjectType,
            subjectId: id,
            description: STAFF_HOLD_DESCRIPTION,
            createdAt: now,
          },
        ],
      },
      { balanceId, version },
    )
    const { actor } = auditCaller(by)
    const placed = await insertStaffHold(client, {
      id,
      balanceId,
      customerId,
      operatorId,
      shard,
      subjectType,
      amount,
      currency,
      reason,
      placedBy: actor.id,
      placedByName: actor.name,
      expiresAt,
      createdAt: now,
    })
    await recordChange(tx, auditCaller(by), by.tenant.id, {
      action: 'staff_hold.placed',
      object: { type: 'staff_hold', id },
      before: null,
      after: { balanceId, customerId, subjectType, amount: money, reason, expiresAt: until },
    })
    return { shown: staffHoldJson(placed), made: { type: 'staff_hold', id } }
  })
}

/** Ends a locked, active hold: its money is available again. */
export async function endHold(
  tx: ChangeTransaction,
  hold: StaffHoldRecord,
  { status, reason }: { readonly status: 'released' | 'expired'; readonly reason: string | null },
  by: AuditBy = SYSTEM,
): Promise<StaffHoldRecord> {
  const { client, now } = tx
  const { id, balanceId, amount, operatorId } = hold
  await writeEffects(tx, {
    holdResolutions: [{ id, balanceId, amount, status, capturedAmount: null, resolvedAt: now }],
  })
  const ended = await endStaffHold(client, hold, { status, reason, now })
  await recordChange(tx, by, operatorId, {
    action: status === 'released' ? 'staff_hold.released' : 'staff_hold.expired',
    object: { type: 'staff_hold', id },
    before: { status: 'active' },
    after: { status, reason },
  })
  return ended
}

function staffHoldJson(hold: StaffHoldRecord): Versioned<StaffHold> {
  const at = (ms: number | null) => (ms === null ? null : timestamp(ms))
  return {
    version: hold.version,
    view: {
      id: hold.id,
      balanceId: hold.balanceId,
      customerId: hold.customerId,
      subjectType: hold.subjectType,
      amount: moneyJson({ amountMinor: hold.amount, currency: hold.currency as CurrencyCode }),
      status: hold.status,
      reason: hold.reason,
      placedBy: hold.placedBy,
      placedByName: hold.placedByName,
      releaseReason: hold.releaseReason,
      expiresAt: at(hold.expiresAt),
      resolvedAt: at(hold.resolvedAt),
      createdAt: timestamp(hold.createdAt),
    },
  }
}
