/** Messages of providers, recorded with the decisions that they caused. */

export interface ProviderEvent {
  readonly id: string
  readonly connectionId: string
  readonly type: string
  readonly objectId: string
  readonly code: string | null
  readonly receivedAt: number
}

declare module '../decisions/effects.ts' {
  interface Effects {
    readonly providerEvents?: readonly ProviderEvent[]
  }
}
