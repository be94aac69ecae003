/** Waits for a condition instead of a fixed time. */
const POLL_MS = 10
/** Long enough for a busy machine. */
const DEADLINE_MS = 30_000
/**
 * While a test waits, the clocks of its worlds run this many times as fast as the machine's, because what it waits for
 * is often a delay of the sandbox.
 */
const PACE = 10
/**
 * The most by which one wait moves those clocks ahead: the common delays of the sandbox fit in, and no deadline of a
 * request passes because the machine is busy.
 */
const AHEAD_MAX_MS = 5_000

const clocks = new Set<(ms: number) => void>()

/** Registers the clock of a world: `advance` is called while the test waits. @returns what removes it again */
export function hurryWhileWaiting(advance: (ms: number) => void): () => void {
  clocks.add(advance)
  return () => clocks.delete(advance)
}

export interface UntilOptions {
  readonly deadlineMs?: number | undefined
  readonly pollMs?: number | undefined
}

/**
 * Polls `condition`, and resolves with its first value that is not false, null or undefined. The deadline is time of
 * the machine.
 *
 * @throws Error when time is up; and every error of `condition`
 */
export async function until<Value>(
  what: string,
  condition: () => Promise<Value> | Value,
  { deadlineMs = DEADLINE_MS, pollMs = POLL_MS }: UntilOptions = {},
): Promise<Exclude<NonNullable<Value>, false>> {
  const deadline = performance.now() + deadlineMs
  for (let ahead = 0; ; ) {
    const value = await condition()
    if (value !== false && value !== null && value !== undefined) return value as Exclude<NonNullable<Value>, false>
    if (performance.now() > deadline) throw new Error(`waited ${deadlineMs} ms for: ${what}`)
    const ms = Math.min(pollMs * (PACE - 1), AHEAD_MAX_MS - ahead)
    ahead += ms
    if (ms > 0) for (const advance of clocks) advance(ms)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
