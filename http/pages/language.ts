/** Languages of pages, and amounts and dates as they are written in them. */
import { exponentOf, isCurrencyCode } from '../../lib/base/currency.ts'
import { formatMajor, parseAmountMinor } from '../../lib/base/money.ts'

/** The languages of pages; the first one is that of browsers that ask for none of them. */
export const LANGUAGES = ['en', 'de', 'fr', 'es'] as const
export type Language = (typeof LANGUAGES)[number]

/** The language of a page, and the locale by which amounts and dates are written: the language, with a region or not. */
export interface Speech {
  readonly language: Language
  readonly locale: string
}

/** Languages that are read of a header: more are no preference. */
const RANGES_MAX = 32
const RANGE = /^([a-z]{2})(?:-([a-z]{2}))?(?:-[a-z0-9-]+)?$/

/**
 * Chooses the language by the header Accept-Language: that with the highest weight, and of equal ones the first. A
 * region is kept for amounts and dates: `de-CH` writes other amounts than `de-AT`.
 */
export function speechOf(header: string | undefined): Speech {
  const wanted = (header ?? '')
    .toLowerCase()
    .split(',', RANGES_MAX)
    .map((entry) => {
      const [range = '', ...parameters] = entry.split(';').map((part) => part.trim())
      const weight = parameters.find((parameter) => parameter.startsWith('q='))
      return { range, weight: weight === undefined ? 1 : Number(weight.slice(2)) }
    })
    .filter(({ weight }) => weight > 0)
    .sort((left, right) => right.weight - left.weight)
  for (const { range } of wanted) {
    const [, found, region] = RANGE.exec(range) ?? []
    const language = LANGUAGES.find((each) => each === found)
    if (language !== undefined)
      return { language, locale: region === undefined ? language : `${language}-${region.toUpperCase()}` }
  }
  return { language: LANGUAGES[0], locale: LANGUAGES[0] }
}

/** Writes an amount with its currency, exactly: digits are passed on as text and never become a floating-point number. */
export function writtenAmount(
  { amountMinor, currency }: { readonly amountMinor: string; readonly currency: string },
  locale: string,
): string {
  const minor = parseAmountMinor(amountMinor)
  if (!isCurrencyCode(currency)) throw new RangeError(`${currency} is no currency`)
  if (minor === null) throw new RangeError(`${amountMinor} is no amount`)
  const digits = exponentOf(currency)
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    // The locale's own table of decimals differs from ISO 4217 for some currencies.
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  return format.format(formatMajor(minor, currency) as Intl.StringNumericLiteral)
}

/** Writes a day, `YYYY-MM-DD`. */
export function writtenDay(day: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(`${day}T00:00:00Z`))
}

/** Writes a moment in UTC and says so, because the reader's time zone is not known. */
export function writtenMoment(timestamp: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
    timeZoneName: 'short',
  }).format(new Date(timestamp))
}
