/**
 * The modulus check of British account numbers, by the rules that Pay.UK publishes. Its weight table gives the check
 * and the weights of each sort code; its substitution table gives the sort codes that are checked as another. Pay.UK
 * renews both a few times a year (read by storage/recipients/uk-modulus-files.ts).
 *
 * A sort code without a row cannot be checked, and every account at it is accepted. With two rows both checks must
 * pass, unless an exception says otherwise. Letters have their meaning from the rules: u to z are the digits of the
 * sort code, a to h those of the account.
 */

interface Weights {
  readonly from: string
  readonly to: string
  readonly method: 'MOD10' | 'MOD11' | 'DBLAL'
  /** The weights of the digits u v w x y z a b c d e f g h. */
  readonly weights: readonly number[]
  /** The number of the exception; 0 for none. */
  readonly exception: number
}

export interface UkModulusTable {
  /** The rows in the order of the file. */
  readonly rows: readonly Weights[]
  readonly substitutes: ReadonlyMap<string, string>
}

const POSITIONS = 14
/** Positions of digits of the account, after the six of the sort code. */
const A = 6
const B = 7
const C = 8
const G = 12
const H = 13

/**
 * Reads the two files as they are published.
 *
 * @throws SyntaxError for an invalid line: a table that is half read would accept wrong accounts
 */
export function parseUkModulusTable(weights: string, substitutions: string): UkModulusTable {
  const rows = lines(weights).map((line): Weights => {
    const [from, to, method, ...rest] = line.split(/\s+/)
    const numbers = rest.map(Number)
    const valid =
      /^\d{6}$/.test(from ?? '') &&
      /^\d{6}$/.test(to ?? '') &&
      (method === 'MOD10' || method === 'MOD11' || method === 'DBLAL') &&
      (numbers.length === POSITIONS || numbers.length === POSITIONS + 1) &&
      numbers.every(Number.isInteger)
    if (!valid) throw new SyntaxError(`weight table: cannot read "${line}"`)
    return {
      from: from as string,
      to: to as string,
      method,
      weights: numbers.slice(0, POSITIONS),
      exception: numbers[POSITIONS] ?? 0,
    }
  })
  const substitutes = new Map(
    lines(substitutions).map((line): [string, string] => {
      const [code, other] = line.split(/\s+/)
      if (!/^\d{6}$/.test(code ?? '') || !/^\d{6}$/.test(other ?? ''))
        throw new SyntaxError(`substitution table: cannot read "${line}"`)
      return [code as string, other as string]
    }),
  )
  return { rows, substitutes }
}

function lines(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** Tells whether the weight table has a sort code; other sort codes may exist all the same. */
export function ukSortCodeListed({ rows }: UkModulusTable, sortCode: string): boolean {
  return rows.some(({ from, to }) => from <= sortCode && sortCode <= to)
}

/** Tells whether an account of eight digits can exist at a sort code of six. */
export function ukAccountValid(table: UkModulusTable, sortCode: string, account: string): boolean {
  const rows = table.rows.filter(({ from, to }) => from <= sortCode && sortCode <= to)
  const [first, second] = rows
  if (first === undefined) return true
  const digits = Array.from(sortCode + account, Number)
  // Exception 6: accounts in foreign currency are not checked.
  if (first.exception === 6 && (digits[A] as number) >= 4 && (digits[A] as number) <= 8 && digits[G] === digits[H])
    return true
  const firstPasses = passes(table, first, { sortCode, account, digits })
  if (first.exception === 14) return firstPasses || passesWithoutLastDigit(table, first, { sortCode, account })
  if (second === undefined) return firstPasses
  // A second check with exception 3 is skipped for accounts whose third digit is 6 or 9.
  if (second.exception === 3 && (digits[C] === 6 || digits[C] === 9)) return firstPasses
  // These pairs are alternatives: one check that passes is enough.
  if (isPair(first, second, 2, 9))
    return (
      firstPasses ||
      passes(table, second, { sortCode: LLOYDS_EURO, account, digits: Array.from(LLOYDS_EURO + account, Number) })
    )
  if (isPair(first, second, 10, 11) || isPair(first, second, 12, 13))
    return firstPasses || passes(table, second, { sortCode, account, digits })
  return firstPasses && passes(table, second, { sortCode, account, digits })
}

/** The euro accounts of one bank have sort codes of their own, but are checked as if they were at this one. */
const LLOYDS_EURO = '309634'
/** With exception 8 an account is checked as if it were at this sort code. */
const EXCEPTION_8 = '090126'

const isPair = (first: Weights, second: Weights, one: number, other: number): boolean =>
  first.exception === one && second.exception === other

interface Account {
  readonly sortCode: string
  readonly account: string
  readonly digits: readonly number[]
}

const EXCEPTION_2_A_NOT_ZERO = [0, 0, 1, 2, 5, 3, 6, 4, 8, 7, 10, 9, 3, 1]
const EXCEPTION_2_G_NINE = [0, 0, 0, 0, 0, 0, 0, 0, 8, 7, 10, 9, 3, 1]

function passes(table: UkModulusTable, row: Weights, { sortCode, account, digits: given }: Account): boolean {
  const { method, exception } = row
  let { weights } = row
  let digits = given
  if (exception === 5) digits = Array.from((table.substitutes.get(sortCode) ?? sortCode) + account, Number)
  if (exception === 8) digits = Array.from(EXCEPTION_8 + account, Number)
  if (exception === 7 && digits[G] === 9) weights = withoutFirst(weights, 8)
  if (
    exception === 10 &&
    digits[G] === 9 &&
    ((digits[A] === 0 && digits[B] === 9) || (digits[A] === 9 && digits[B] === 9))
  )
    weights = withoutFirst(weights, 8)
  if (exception === 2 && digits[A] !== 0) weights = digits[G] === 9 ? EXCEPTION_2_G_NINE : EXCEPTION_2_A_NOT_ZERO
  const products = weights.map((weight, index) => weight * (digits[index] as number))
  if (method === 'DBLAL') {
    const sum = products.reduce(
      (total, product) => total + Math.floor(product / 10) + (product % 10),
      exception === 1 ? 27 : 0,
    )
    if (exception !== 5) return sum % 10 === 0
    const remainder = sum % 10
    return remainder === 0 ? digits[H] === 0 : 10 - remainder === digits[H]
  }
  const sum = products.reduce((total, product) => total + product, 0)
  if (method === 'MOD10') return sum % 10 === 0
  const remainder = sum % 11
  if (exception === 4) return remainder === (digits[G] as number) * 10 + (digits[H] as number)
  if (exception !== 5) return remainder === 0
  if (remainder === 0) return digits[G] === 0
  return remainder !== 1 && 11 - remainder === digits[G]
}

function withoutFirst(weights: readonly number[], count: number): number[] {
  return weights.map((weight, index) => (index < count ? 0 : weight))
}

/**
 * Checks again without the last digit (exception 14): an account that ends in 0, 1 or 9 may have been printed with an
 * extra digit at its end and without its leading zero.
 */
function passesWithoutLastDigit(
  table: UkModulusTable,
  row: Weights,
  { sortCode, account }: Pick<Account, 'sortCode' | 'account'>,
): boolean {
  if (!/[019]$/.test(account)) return false
  const shifted = `0${account.slice(0, 7)}`
  return passes(table, row, { sortCode, account: shifted, digits: Array.from(sortCode + shifted, Number) })
}
