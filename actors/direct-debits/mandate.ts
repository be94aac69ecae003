/** The actor of a mandate: decides the mandate and its collections, one move at a time. */
import { withIds, type Seeded } from '../../lib/decisions/seeded.ts'
import {
  createCollection,
  createMandate,
  patchMandate,
  type CreateCollection,
  type CreateMandate,
  type PatchMandate,
} from '../../lib/direct-debits/create-debits.ts'
import {
  decideCollection,
  decideMandate,
  type DebitDecision,
  type DebitReply,
  type MoveCollection,
  type MoveMandate,
} from '../../lib/direct-debits/debit-decision.ts'
import type { MandateRecord } from '../../lib/direct-debits/mandate.ts'
import { loadMandates } from '../../storage/direct-debits/mandates.ts'
import type { ActorKind } from '../runtime/actor.ts'

/** The commands that a mandate decides. */
export type DebitMove = CreateMandate | PatchMandate | MoveMandate | CreateCollection | MoveCollection
/** A command as it is sent: the ids of its rows derive from its seed. */
export type MandateCommand = Seeded<DebitMove>

export const mandateActor: ActorKind<MandateRecord, MandateCommand, DebitReply> = {
  name: 'mandate',
  lockRank: 3,
  onStale: 'reload',
  turnMax: 1,
  // A collection that is stale travels with its command, so its use case reads it again.
  staleAs: ['mandate_stale'],
  load: loadMandates,
  decide,
  // The effects carry the versions of the mandate and the collection as their fences; their postings on the balance need
  // no decision of the balance.
  fence: () => null,
}

function decide(mandate: MandateRecord | null, seeded: MandateCommand, now: number): DebitDecision {
  const command = withIds<DebitMove>(seeded)
  switch (command.kind) {
    case 'create_mandate':
      return createMandate(mandate, command, now)
    case 'patch_mandate':
      return patchMandate(mandate, command, now)
    case 'move_mandate':
      return decideMandate(mandate, command, now)
    case 'create_collection':
      return createCollection(mandate, command, now)
    case 'move_collection':
      return decideCollection(mandate, command, now)
    default:
      return command satisfies never
  }
}
