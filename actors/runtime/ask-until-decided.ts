/**
 * Asks an actor for a decision, and asks again while the commit meets a conflict that other terms of the command
 * resolve: an external id that is taken, a row that has changed since it was read, a balance that takes no credits.
 */
import { LIMITS } from '../../lib/base/limits.ts'
import type { ActorKind, Outcome } from './actor.ts'
import { Overloaded } from './lane.ts'
import type { ActorSystem } from './system.ts'

/** The actor to ask. The deadline is in epoch milliseconds. */
export interface AskedActor<State, Command, Reply> {
  readonly system: ActorSystem
  readonly actor: ActorKind<State, Command, Reply>
  readonly id: string
  readonly shard: number
  readonly deadline: number
}

type Recorded = Extract<Outcome<never>, { readonly kind: 'recorded' }>
/** A conflict that stopped the commit of a decision. */
export type AskConflict = Exclude<Outcome<never>, { readonly kind: 'decided' | 'recorded' }>

/** Resolves a conflict: the next command takes it into account, or the returned reply ends the attempts. */
export type Resolve<Reply> = (conflict: AskConflict) => 'again' | Reply | Promise<'again' | Reply>

/**
 * Asks at most `LIMITS.conflictAttemptsMax` times. Every attempt makes its command anew, so that ids and times are its own.
 *
 * @param noun the noun of the sentence for a caller whose attempts have run out
 * @returns the reply, the outcome that the command's key has recorded, or the reply that `resolve` gives
 * @throws Overloaded when every attempt met a conflict; DatabaseUnavailable or OutcomeUnknown; the errors of `resolve`
 */
export async function askUntilDecided<State, Command, Reply>(
  { system, actor, id, shard, deadline }: AskedActor<State, Command, Reply>,
  makeCommand: () => Command | Promise<Command>,
  resolve: Resolve<NoInfer<Reply>>,
  noun: 'balance' | 'contract' | 'mandate',
): Promise<Reply | Recorded> {
  for (let attempt = 0; attempt < LIMITS.conflictAttemptsMax; attempt++) {
    const outcome = await system.ask(actor, id, shard, await makeCommand(), deadline)
    switch (outcome.kind) {
      case 'decided':
        return outcome.reply
      case 'recorded':
        return outcome
      default: {
        const resolved = await resolve(outcome)
        if (resolved !== 'again') return resolved
      }
    }
  }
  throw new Overloaded(`The ${noun} keeps changing; try again.`)
}
