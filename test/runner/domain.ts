/**
 * Takes the place of the package `async-hook-domain` in tap, which hooks each promise and each callback of the process,
 * the service's too, to find the test that an uncaught error belongs to: a tenth of all CPU time. Here the error
 * belongs to the test that runs (test/runner/file-process.ts).
 */
export class Domain {
  readonly onerror: (error: unknown) => void
  constructor(onerror: (error: unknown) => void) {
    this.onerror = onerror
  }
  destroy(): void {
    // There is no hook to remove.
  }
}
