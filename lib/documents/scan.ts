/**
 * The port to the scanner that decides whether a file is harmful. The service asks and waits; it never examines files
 * itself.
 */

/** The file that the scanner is asked about. */
export interface FileToScan {
  readonly id: string
  readonly fileName: string
  readonly sizeBytes: number
  /** Time of the upload, epoch milliseconds. */
  readonly createdAt: number
  /** The content of the file, for scanners that read it. */
  readonly bytes: () => AsyncIterable<Uint8Array>
}

/** The scanner's answer: a verdict, or the time at which to ask again (epoch milliseconds). */
export type ScanResult = { readonly verdict: 'clean' | 'infected' } | { readonly askAgainAt: number }

export interface Scanner {
  /**
   * Asks for the verdict; called repeatedly until there is one. A repeated call starts no second scan. @throws when the
   * scanner cannot be reached
   */
  scan(file: FileToScan, now: number): Promise<ScanResult>
}
