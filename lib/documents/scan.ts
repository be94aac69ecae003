/** Who says whether a file is harmful. The service asks and waits; it never looks into files itself. */

/** What is asked about. */
export interface FileToScan {
  readonly id: string
  readonly fileName: string
  readonly sizeBytes: number
  /** When it came in, epoch milliseconds. */
  readonly createdAt: number
  /** Its bytes, for whoever wants to see them. */
  readonly bytes: () => AsyncIterable<Uint8Array>
}

/** What is known of a file: its verdict, or when to ask again (epoch milliseconds). */
export type ScanResult = { readonly verdict: 'clean' | 'infected' } | { readonly askAgainAt: number }

export interface Scanner {
  /** Asked again and again until there is a verdict; a repeated question is not another scan. @throws when it cannot be reached */
  scan(file: FileToScan, now: number): Promise<ScanResult>
}
