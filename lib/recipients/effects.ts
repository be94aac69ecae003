/** Facts about recipients that decisions rest on. */

/** A fact a decision rests on that lives outside its own row; a newer version makes the decision stale. */
export interface FactFence {
  readonly recipientId: string
  readonly version: bigint
}

declare module '../decisions/effects.ts' {
  interface Effects {
    readonly facts?: readonly FactFence[]
  }
}
