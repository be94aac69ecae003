/**
 * Tests written as a table: one line for each step, so that a reader compares rows instead of reading code.
 *
 *   verb  subject [-> other] [amount]  name value  name value …  [=> outcome]
 *   # a comment
 *
 * Each test that uses a table defines the meaning of its words.
 */
export interface TableRow {
  /** The line with single spaces: the name of its assertion. */
  readonly text: string
  readonly verb: string
  readonly subject: string
  readonly other: string | null
  readonly amount: bigint | null
  readonly settings: Readonly<Record<string, string>>
  readonly outcome: string | null
}

/** Parses a table. @throws SyntaxError with the line that cannot be read, because a skipped row would test nothing */
export function table(text: string): TableRow[] {
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim().replace(/\s+/g, ' '))
    .filter((line) => line !== '')
    .map(parseRow)
}

function parseRow(text: string): TableRow {
  const [left = '', outcome = null, ...more] = text.split(' => ')
  const words = left.split(' ')
  const verb = words.shift()
  const subject = words.shift()
  const other = words[0] === '->' ? (words.splice(0, 2)[1] ?? null) : null
  const amount = /^\d+$/.test(words[0] ?? '') ? BigInt(words.shift() as string) : null
  if (verb === undefined || subject === undefined || words.length % 2 !== 0 || more.length > 0)
    throw new SyntaxError(`cannot read the row "${text}"`)
  const settings: Record<string, string> = {}
  for (let i = 0; i < words.length; i += 2) {
    const name = words[i] as string
    if (name in settings) throw new SyntaxError(`${name} twice in the row "${text}"`)
    settings[name] = words[i + 1] as string
  }
  return { text, verb, subject, other, amount, settings, outcome }
}
