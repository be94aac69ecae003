/** Facts about recipients that decisions depend on. */

/** A fact that a decision depends on and that is stored in another row; a newer version makes the decision stale. */
export interface FactFence {
  readonly recipientId: string
  readonly version: bigint
}

declare module '../decisions/effects.ts' {
  interface Effects {
    readonly facts?: readonly FactFence[]
  }
}
