/** Codes of errors of Node and Postgres: `ENOENT`, `28P01`. */

export function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code)
  return error instanceof Error ? error.message : String(error)
}

/** Makes a handler for `catch` that turns the expected codes into `null` and throws all other errors again. */
export function ignore(...codes: readonly string[]): (error: unknown) => null {
  return (error) => {
    if (codes.includes(codeOf(error))) return null
    throw error
  }
}

/** Returns the last line of a failed command's stderr, or the error's code. */
export function lastLine(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
  return text.trim().split('\n').at(-1) || codeOf(error)
}
