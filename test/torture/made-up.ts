/** The parts of made-up histories. */
import type { Books, Call, Change, Command, Decided, Effect, History, Wanted } from './history.ts'

/** A change that makes a good history a bad one. */
export type Spoil = (good: { history: History; books: Books }) => { history?: Partial<History>; books?: Partial<Books> }

export const yes = (id: string): string => JSON.stringify({ id })
export const no = (available: number, required: number): string =>
  JSON.stringify({
    code: 'insufficient-funds',
    available: { amountMinor: String(available) },
    required: { amountMinor: String(required) },
  })

export const wanted = (name: string, amount: bigint, overrides: Partial<Wanted> = {}): Wanted => ({
  name,
  kind: 'payment',
  from: 'A',
  to: null,
  amount,
  ends: 'completed',
  ...overrides,
})
/** Something that moves money at once. */
export const pay = (
  key: string,
  amount: bigint,
  overrides: Partial<Wanted> = {},
  more: Partial<Command> = {},
): Command => {
  const wants = [wanted(key, amount, overrides)]
  return { key, tenantId: 'T', path: `/v1/${wants[0]!.kind}s`, kind: wants[0]!.kind, wants, ...more }
}
export const made = (
  id: string,
  name: string,
  amount: bigint,
  at: number,
  overrides: Partial<Effect> = {},
): Effect => ({
  id,
  name,
  kind: 'payment',
  from: 'A',
  to: null,
  amount,
  status: 'completed',
  counted: null,
  exchangeId: null,
  lost: false,
  at,
  ...overrides,
})
export const call = (
  key: string,
  start: number,
  end: number,
  status: number | null,
  answer = '',
  overrides: Partial<Call> = {},
): Call => ({ key, node: 'n1', start, end, status, answer, retryAfter: status === 503, ...overrides })
export const decided = (key: string, transaction: string, at: number, isYes: boolean): Decided => ({
  key,
  transaction,
  at,
  yes: isYes,
})
export const hold = (transaction: string, at: number, held: bigint, balanceId = 'A'): Change => ({
  balanceId,
  transaction,
  at,
  posted: 0n,
  held,
  line: null,
})
export const line = (
  transaction: string,
  at: number,
  posted: bigint,
  sequence: bigint,
  running: bigint,
  held = 0n,
  balanceId = 'A',
): Change => ({ balanceId, transaction, at, posted, held, line: { sequence, running } })

export const event = (
  objectId: string,
  type: string,
  status: string,
  previous: string | null = null,
): Books['events'][number] => ({ objectId, type, status, previous })
