/** Tables of the contract as text: one row a line, cells between bars, in the order of the named columns. */

/** A row by the names of its columns; an empty cell is empty text. */
export type Row<Column extends string> = { readonly [name in Column]: string }

/**
 * Reads a table. Blank lines, and lines that begin with `--`, are for the reader. Missing cells at the end of a line
 * are empty.
 *
 * @throws Error when a line has more cells than there are columns
 */
export function table<const Columns extends readonly string[]>(
  columns: Columns,
  text: string,
): readonly Row<Columns[number]>[] {
  return linesOf(text).map((line) => {
    const cells = line.split('|').map((cell) => cell.trim())
    if (cells.length > columns.length) throw new Error(`More cells than columns: ${line}`)
    return Object.fromEntries(columns.map((name, nth) => [name, cells[nth] ?? ''])) as Row<Columns[number]>
  })
}

/** Returns the lines of a table without blank ones and headings. */
export function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('--'))
}

/** Reads the words of a cell, which are separated by commas or blanks. */
export function words(cell: string): readonly string[] {
  return cell.split(/[\s,]+/).filter((word) => word !== '')
}
