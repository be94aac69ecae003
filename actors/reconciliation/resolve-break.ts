/**
 * Resolves breaks of reconciliations by staff: a first person reports the cause with evidence; where money moves, a
 * second person has to confirm it before it is booked.
 */
import type { AuditVerb } from '../../lib/base/audit-actions.ts'
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { entry, NO_BALANCE } from '../../lib/ledger/entry.ts'
import { refuse, refuseTransition } from '../../lib/base/problems.ts'
import { differenceOf, outcomesOf, statusesFor, type BreakOutcome } from '../../lib/reconciliation/item.ts'
import { writeEffects } from '../../storage/sections/write-effects.ts'
import type { ApprovalTx } from '../../storage/approvals/approvals.ts'
import type { Database } from '../../storage/db/database.ts'
import { writeAudit, type AuditBy } from '../../storage/trail/trail.ts'
import type { InternalAccountCache } from '../../storage/journal/internal-account-cache.ts'
import { readOperator } from '../../storage/operators/operators.ts'
import {
  BREAK_SOURCE,
  lockItem,
  noteOutcome,
  proposeOutcome,
  type ItemRecord,
} from '../../storage/reconciliation/reconciliation-items.ts'
import { noteCashBooked } from '../../storage/providers/cash/cash-orders.ts'
import { decideInTransaction } from '../approvals/decision-transaction.ts'

export interface BreaksOptions {
  readonly database: Database
  readonly accounts: InternalAccountCache
  readonly clock: Clock
  readonly ids: IdSource
}

export interface BreakResolution {
  readonly breakId: string
  readonly operatorId: string
  readonly outcome: BreakOutcome
  readonly evidence: string
  readonly by: AuditBy
}

export class Breaks {
  readonly #options: BreaksOptions

  constructor(options: BreaksOptions) {
    this.#options = options
  }

  /**
   * Records the cause that one person reports. The resolution `charge` moves money: where the operator requires two
   * people, the first report is stored as a proposal, and the same report by another person books it.
   *
   * @returns `proposed` while a second person is needed
   * @throws ProblemError `not-found`, `invalid-transition` when the break cannot be resolved in this way
   */
  async resolve(request: BreakResolution): Promise<'resolved' | 'proposed'> {
    return await decideInTransaction(this.#options, async (tx) => {
      const item = await lockItem(tx.client, request.breakId)
      if (item === null || item.operatorId !== request.operatorId)
        refuse('not-found', 'No such break exists in this tenant.')
      if (!outcomesOf(item).includes(request.outcome)) {
        refuseTransition(
          `A break that is ${item.status} cannot be resolved as ${request.outcome}.`,
          item.status,
          statusesFor(item, request.outcome),
        )
      }
      const operator = await readOperator(tx.client, item.operatorId)
      const { outcome, evidence, by, operatorId } = request
      const trail = (verb: AuditVerb<'reconciliation_break'>) =>
        writeAudit(tx.client, {
          ...by,
          id: tx.ids.next(),
          tenantId: operatorId,
          at: tx.now,
          action: `reconciliation_break.${verb}`,
          object: { type: 'reconciliation_break', id: item.id },
          before: { status: item.status, proposal: item.proposal },
          after: { outcome, evidence },
        })
      const second = item.proposal !== null && item.proposal.by !== by.actor.id && item.proposal.outcome === outcome
      if (outcome === 'charge' && operator?.payments.fourEyesExceptions !== false && !second) {
        await proposeOutcome(tx.client, item.id, {
          outcome,
          evidence,
          by: by.actor.id,
          byName: by.actor.name,
          at: timestamp(tx.now),
        })
        await trail('proposed')
        return 'proposed'
      }
      if (outcome === 'charge') await this.#bookCharge(tx, item)
      // Cash that staff have found where the statement does not name the order.
      if (item.kind === 'missing_with_partner' && item.reference !== null)
        await noteCashBooked(tx.client, {
          id: item.reference,
          connectionId: item.connectionId,
          now: tx.now,
        })
      await noteOutcome(tx.client, item.id, { outcome, evidence, by: by.actor, now: tx.now })
      await trail('resolved')
      return 'resolved'
    })
  }

  /** Books a charge: takes it out of suspense (the second use of L93), or books the extra cost of a payment (L16). */
  async #bookCharge({ client, ids, now }: ApprovalTx, item: ItemRecord): Promise<void> {
    const { id, operatorId, currency } = item
    const shared = {
      currency,
      accounts: await this.#options.accounts.within(client).accounts(item),
      balances: NO_BALANCE,
      entryId: ids.next(),
      customerId: operatorId,
      source: { object: BREAK_SOURCE, id },
      description: 'Charge of the partner',
      reference: item.bankRef,
      bookedAt: now,
      valueDate: timestamp(now).slice(0, 10),
    }
    await writeEffects(
      { client, now },
      {
        postings:
          item.status === 'in_suspense'
            ? entry({
                ...shared,
                rule: 'L93',
                variant: 'explained_as_charge',
                amounts: { A: item.partnerAmount ?? 0n },
                occurrence: 2,
              })
            : entry({ ...shared, rule: 'L16', amounts: { P: -differenceOf(item) } }),
      },
    )
  }
}
