/** The way out of an adapter to the files that are exchanged with a provider. */

/** A file in the folder of what the provider sends. */
export interface PartnerFile {
  readonly name: string
  readonly bytes: number
  /** Epoch milliseconds. */
  readonly modifiedAt: number
}

export interface PartnerFiles {
  /** Lists the files that the provider has left, oldest first. @throws when the place cannot be reached */
  list(): Promise<readonly PartnerFile[]>
  /** Reads a file piece by piece. @throws when the place cannot be reached, or has no such file */
  read(name: string): Promise<AsyncIterable<Uint8Array>>
  /**
   * Writes a file for the provider, which sees the whole of it or nothing. A file of the name with the same bytes stays
   * as it is.
   *
   * @throws when it is unknown whether the file was written
   */
  write(name: string, bytes: Uint8Array): Promise<void>
}
