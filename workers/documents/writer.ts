/**
 * The interface of document writers: rows in, bytes out, a batch at a time, so that no document is ever in memory as a
 * whole.
 */

/** Writes one document. Its bytes go to `emit`, at the latest when the promise resolves. */
export interface DocumentWriter<Row> {
  write(rows: readonly Row[]): Promise<void>
  /** Ends the document; when the promise resolves, all bytes have been emitted. */
  end(): Promise<void>
}

export type Emit = (bytes: Uint8Array) => void

const encoder = new TextEncoder()

/** Makes a writer of a text document from functions that make its parts. */
export function textWriter<Row>(
  emit: Emit,
  {
    head,
    rows,
    end,
  }: { readonly head: string; readonly rows: (rows: readonly Row[]) => string; readonly end: () => string },
): DocumentWriter<Row> {
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
