/** Waits for a condition instead of a fixed time. */
const POLL_MS = 10
/** Long enough for a busy machine. */
const DEADLINE_MS = 30_000

export interface UntilOptions {
  readonly deadlineMs?: number | undefined
  readonly pollMs?: number | undefined
}

/**
 * Polls `condition`, and resolves with its first value that is not false, null or undefined.
 *
 * @throws Error when time is up; and every error of `condition`
 */
export async function until<Value>(
  what: string,
  condition: () => Promise<Value> | Value,
  { deadlineMs = DEADLINE_MS, pollMs = POLL_MS }: UntilOptions = {},
): Promise<Exclude<NonNullable<Value>, false>> {
  const deadline = performance.now() + deadlineMs
  for (;;) {
    const value = await condition()
    if (value !== false && value !== null && value !== undefined) return value as Exclude<NonNullable<Value>, false>
    if (performance.now() > deadline) throw new Error(`waited ${deadlineMs} ms for: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
