/** How a document comes into being: rows in, bytes out, a batch at a time, so that none is ever in memory whole. */

/** Writes one document. What it has so far goes to `emit`, at the latest when the promise has resolved. */
export interface DocumentWriter<Row> {
  write(rows: readonly Row[]): Promise<void>
  /** No more rows; everything has been emitted when it resolves. */
  end(): Promise<void>
}

export type Emit = (bytes: Uint8Array) => void

const encoder = new TextEncoder()

/** A document of text, from functions that make its parts. */
export function textWriter<Row>(emit: Emit, { head, rows, end }: { readonly head: string; readonly rows: (rows: readonly Row[]) => string; readonly end: () => string }): DocumentWriter<Row> {
  let begun = false
  const put = (text: string): void => {
    const whole = begun ? text : head + text
    begun = true
    if (whole !== '') emit(encoder.encode(whole))
  }
  return {
    write: async (batch) => put(rows(batch)),
    end: async () => put(end()),
  }
}
