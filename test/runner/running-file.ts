/** The test file that this process runs at the moment: what its `import t from 'tap'` gives it. */
import type { Test } from 'tap'

let running: Test | null = null

/** Names the file whose module is loaded next. */
export function setRunningFile(test: Test): void {
  running = test
}

/** @throws Error outside of a process of test files */
export function runningFile(): Test {
  if (running === null) throw new Error('No test file runs in this process.')
  return running
}
