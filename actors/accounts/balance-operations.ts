/** The operations on balances: open, change and close balances, and request the accounts behind them. */
import { closeBalance } from './close-balance.ts'
import type { AccountDetailsJson } from '../../lib/accounts/details.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { auditCaller } from '../commands/trail.ts'
import type {
  AccountDetailsRequest,
  Balance,
  BalanceClose,
  BalanceOpen,
  BalanceUpdate,
} from '../../lib/balances/balance-schema.ts'
import type { Command, CommandAnswer, Versioned } from '../../lib/commands/command.ts'
import { recordChange } from '../commands/changes.ts'
import { state, type BalanceDeps } from './balance-record.ts'
import { openBalance } from './open-balance.ts'
import { requestAccountDetails } from './request-account-details.ts'
import { updateBalance } from './update-balance.ts'

/** The writes. Every refusal is thrown as a problem. */
export interface BalanceCommands {
  open(by: Caller<'person'>, command: Command<BalanceOpen>): Promise<CommandAnswer<Balance, 201>>
  update(
    by: Caller<'person'>,
    id: string,
    body: BalanceUpdate,
    expected: number | bigint | null,
  ): Promise<Versioned<Balance>>
  close(by: Caller<'person'>, id: string, command: Command<BalanceClose>): Promise<CommandAnswer<Balance, 200>>
  requestDetails(
    by: Caller<'person'>,
    id: string,
    command: Command<AccountDetailsRequest>,
  ): Promise<CommandAnswer<AccountDetailsJson, 202>>
}

/** Creates the commands of balances. */
export function createBalanceCommands(deps: BalanceDeps): BalanceCommands {
  return {
    open: (by, command) => openBalance(deps, by, command),
    update: (by, id, body, expected) => updateBalance(deps, by, id, body, expected),
    close: (by, id, command) => closeAndRecord(deps, by, id, command),
    requestDetails: (by, id, command) => requestAccountDetails(deps, by, id, command),
  }
}

/**
 * Closes a balance, after it has paid out to another balance where the body says so.
 *
 * @throws what `closeBalance` throws
 */
async function closeAndRecord(
  deps: BalanceDeps,
  by: Caller<'person'>,
  id: string,
  command: Command<BalanceClose>,
): Promise<CommandAnswer<Balance, 200>> {
  const { principal } = by
  const { sweepToBalanceId = null } = command.body
  return await closeBalance(
    deps,
    command,
    {
      customerId: by.tenant.id,
      balanceId: id,
      sweepToBalanceId,
      createdBy: principal.id,
      createdVia: principal.createdVia,
    },
    (client, { before, status, transferId }, now) =>
      recordChange({ client, ids: deps.ids, now }, auditCaller(by), by.tenant.id, {
        action: 'balance.closed',
        object: { type: 'balance', id },
        before: state(before),
        after: { ...state({ ...before, status, isDefault: false }), transferId },
      }),
  )
}
