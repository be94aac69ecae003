/** The order, refusals and answers that changes of members, teams and invitations share. */
import { refuse, refuseNotFound } from '../../lib/base/problems.ts'
import * as rows from '../../storage/identity/members.ts'
import { inTransaction } from '../../storage/db/transaction.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import type { IdentityDeps } from './identity-deps.ts'
import type { ChangeTransaction } from '../commands/changes.ts'
import type { Versioned } from '../../lib/commands/command.ts'
import type { MemberReads } from './identity.ts'

/** The dependencies of the commands of members: those of identity, and the reads that they answer with. */
export interface MemberDeps extends IdentityDeps {
  readonly reads: MemberReads
}

/** Runs one change of a tenant's members or staff at a time, under a lock. */
export async function changeMembers<Result>(
  { database, clock, ids }: IdentityDeps,
  tenantId: string,
  work: (tx: ChangeTransaction) => Promise<Result>,
): Promise<Result> {
  return await inTransaction(database, async (client) => {
    await rows.lockMembers(client, tenantId)
    return await work({ client, ids, now: clock.now() })
  })
}

/** Returns what a read has found. @throws ProblemError `not-found` when it has found nothing */
export async function found<View>(reading: Promise<Versioned<View> | null>): Promise<Versioned<View>> {
  return (await reading) ?? refuseNotFound()
}

/** Refuses a change that only owners may make. @throws ProblemError `insufficient-scope` */
export function requireOwner(by: Caller<'person'>): void {
  if (!by.principal.capabilities.has('owner'))
    refuse('insufficient-scope', 'Only owners make, change and remove owners.', {
      extra: { requiredCapability: 'owner' },
    })
}
