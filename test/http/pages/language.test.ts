/** Languages of pages: which one a browser gets, complete texts, and amounts and dates as they are written there. */
import fc from 'fast-check'
import t from 'tap'
import { CURRENCIES, exponentOf } from '../../../lib/base/currency.ts'
import { LANGUAGES, speechOf, writtenAmount, writtenDay, writtenMoment } from '../../../http/pages/language.ts'
import { TRANSLATIONS } from '../../../http/pages/translations.ts'

t.test('the browser chooses the language, and its region how amounts are written', (t) => {
  const rows: readonly (readonly [header: string | undefined, language: string, locale: string])[] = [
    [undefined, 'en', 'en'],
    ['', 'en', 'en'],
    ['*', 'en', 'en'],
    ['de', 'de', 'de'],
    ['de-CH', 'de', 'de-CH'],
    ['de-Latn-AT', 'de', 'de'],
    ['nl,fr;q=0.8,en;q=0.5', 'fr', 'fr'],
    ['en;q=0.3, es-MX;q=0.9', 'es', 'es-MX'],
    ['de;q=0,fr;q=0.1', 'fr', 'fr'],
    ['FR-ca', 'fr', 'fr-CA'],
    ['de-u-nu-arab', 'de', 'de'],
    ['<script>,de-"><', 'en', 'en'],
    ['x'.repeat(9_000), 'en', 'en'],
  ]
  for (const [header, language, locale] of rows) t.strictSame(speechOf(header), { language, locale }, header ?? 'none')
  t.end()
})

t.test('amounts are exact to the last digit, with the decimals of ISO 4217', (t) => {
  const amount = (amountMinor: string, currency: string, locale: string) =>
    writtenAmount({ amountMinor, currency }, locale)
      .replaceAll(/[\u00a0\u202f]/g, ' ')
      .replaceAll('’', "'")
  t.equal(amount('123456', 'EUR', 'en'), '€1,234.56')
  t.equal(amount('123456', 'EUR', 'de'), '1.234,56 €')
  t.equal(amount('123456', 'EUR', 'fr'), '1 234,56 €')
  t.equal(amount('123456', 'CHF', 'de-CH'), "CHF 1'234.56")
  t.equal(amount('9007199254740993', 'USD', 'en-US'), '$90,071,992,547,409.93', 'beyond what a double holds')
  t.equal(amount('9223372036854775807', 'JPY', 'en-US'), '¥9,223,372,036,854,775,807')
  t.equal(amount('1234', 'BHD', 'en-US'), 'BHD 1.234')
  t.equal(amount('1234', 'IQD', 'en-US'), 'IQD 1.234', 'the locale itself knows no decimals of this currency')
  const currencies = CURRENCIES.map(({ code }) => code)
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
      fc.constantFrom(...currencies),
      fc.constantFrom(...LANGUAGES),
      (minor, currency, language) => {
        const digits = writtenAmount({ amountMinor: `${minor}`, currency }, language).replaceAll(/[^0-9]/g, '')
        return BigInt(digits) === minor && digits.length > exponentOf(currency)
      },
    ),
  )
  t.throws(() => amount('1.5', 'EUR', 'en'), RangeError)
  t.throws(() => amount('1', 'XXY', 'en'), RangeError)
  t.end()
})

t.test('days are those of the request, and moments name their zone', (t) => {
  t.equal(writtenDay('2026-12-01', 'en-GB'), '1 December 2026')
  t.equal(writtenDay('2026-12-01', 'de'), '1. Dezember 2026')
  t.equal(writtenDay('2026-12-01', 'es'), '1 de diciembre de 2026')
  t.match(writtenMoment('2026-12-01T23:30:00.000Z', 'fr'), /^1 décembre 2026 à 23:30 UTC$/)
  t.match(writtenMoment('2026-12-01T23:30:00.000Z', 'en-US'), /^December 1, 2026 at 11:30\sPM UTC$/)
  t.end()
})

/** Every text of a language, called with the names of its blanks, by its place. */
function textsOf(value: unknown, path = ''): [path: string, text: string][] {
  if (typeof value === 'string') return [[path, value]]
  if (typeof value === 'function') return textsOf((value as (...blanks: string[]) => unknown)('‹1›', '‹2›'), path)
  return Object.entries(value as object).flatMap(([name, each]) => textsOf(each, `${path}/${name}`))
}

t.test('each language has every text, of its own, with every blank', (t) => {
  const english = new Map(textsOf(TRANSLATIONS.en))
  for (const language of LANGUAGES) {
    const texts = new Map(textsOf(TRANSLATIONS[language]))
    t.strictSame([...texts.keys()], [...english.keys()], language)
    const blanks = (text: string) => (text.match(/‹\d›/g) ?? []).toSorted()
    for (const [path, text] of texts) {
      if (text.trim() === '' || text !== text.trim()) t.fail(`${language}${path} is empty or has spaces at its ends`)
      const [here, there] = [blanks(text), blanks(english.get(path)!)]
      if (here.join() !== there.join()) t.fail(`${language}${path} has other blanks`)
    }
    const own = [...texts].filter(([path, text]) => text === english.get(path)).length
    if (language !== 'en') t.ok(own < texts.size / 4, `${language}: ${own} texts are as in English`)
  }
  t.end()
})
