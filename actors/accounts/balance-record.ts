/** The dependencies, the state in the trail, and the answer that commands of balances share. */
import type { CloseBalanceDeps } from './close-balance.ts'
import type { AccountPartner } from '../providers/account-partner.ts'
import { refuseNotFound } from '../../lib/base/problems.ts'
import type { BalanceRecord } from '../../storage/balances/balance-changes.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { Balance } from '../../lib/balances/balance-schema.ts'
import type { Tenant } from '../../lib/commands/caller.ts'
import type { Versioned } from '../../lib/commands/command.ts'

export interface BalanceDeps extends CloseBalanceDeps {
  readonly accountPartner: AccountPartner
  readonly queries: { getBalance(tenant: Tenant, id: string): Promise<Versioned<Balance> | null> }
}

/** The part of a balance that the trail keeps. */
export function state({
  currency,
  name,
  parentBalanceId,
  status,
  isDefault,
  lowBalanceThreshold,
  metadata,
}: Pick<
  BalanceRecord,
  'currency' | 'name' | 'parentBalanceId' | 'status' | 'isDefault' | 'lowBalanceThreshold' | 'metadata'
>): object {
  return {
    currency,
    name,
    parentBalanceId,
    status,
    isDefault,
    lowBalanceThreshold: lowBalanceThreshold?.toString() ?? null,
    metadata,
  }
}

/** Reads a balance as it is answered. @throws ProblemError `not-found` */
export async function rereadBalance(
  { queries }: BalanceDeps,
  by: Caller<'person'>,
  id: string,
): Promise<Versioned<Balance>> {
  return (await queries.getBalance(by.tenant, id)) ?? refuseNotFound()
}
