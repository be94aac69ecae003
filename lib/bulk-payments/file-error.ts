/** Errors that make a whole file unusable, as opposed to faults of single rows. */

export type FileErrorCode =
  | 'empty_file'
  | 'too_many_rows'
  | 'too_large'
  | 'bad_encoding'
  | 'unknown_column'
  | 'missing_column'
  | 'duplicate_column'
  | 'formula_not_allowed'
  | 'control_sum_mismatch'
  | 'unsupported_version'
  | 'not_well_formed'

export interface FileError {
  /** The line of the file, from 1; null for an error that concerns no single line. */
  readonly line: number | null
  readonly code: FileErrorCode
  /** A sentence for the person who sent the file. */
  readonly message: string
}

/** Thrown by the readers. The rows read before it must be discarded. */
export class BulkFileError extends Error {
  override readonly name = 'BulkFileError'
  readonly errors: readonly FileError[]

  constructor(errors: readonly FileError[]) {
    super(errors[0]!.message)
    this.errors = errors
  }
}

/** @throws BulkFileError always */
export function unusable(code: FileErrorCode, message: string, line: number | null = null): never {
  throw new BulkFileError([{ line, code, message }])
}
