/**
 * The balance as its actor knows it. A debit needs its decision, a credit does not: so what is remembered can be low,
 * never high, and a yes from memory is always good (I4).
 */
export interface BalanceState {
  readonly id: string
  readonly customerId: string
  readonly operatorId: string
  readonly connectionId: string
  readonly shard: number
  readonly currency: string
  readonly name: string
  readonly status: 'active' | 'frozen' | 'closing' | 'closed'
  /** Minor units: what is posted less what is held. */
  readonly available: bigint
  readonly version: bigint
}
