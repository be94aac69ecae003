/** What makes a whole file unusable, as opposed to one of its rows. */

export type FileErrorCode =
  | 'empty_file' | 'too_many_rows' | 'too_large' | 'bad_encoding' | 'unknown_column' | 'missing_column' | 'duplicate_column'
  | 'formula_not_allowed' | 'control_sum_mismatch' | 'unsupported_version' | 'not_well_formed'

export interface FileError {
  /** Of the file, from 1; null where it is not about a line. */
  readonly line: number | null
  readonly code: FileErrorCode
  /** For people. */
  readonly message: string
}

/** Thrown by readers. The rows read before it are void. */
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
