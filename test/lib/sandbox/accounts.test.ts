import t from 'tap'

import { OFFERED_CURRENCIES } from '../../../lib/customers/currencies.ts'
import { abaValid, clabeValid } from '../../../lib/recipients/check-digits.ts'
import { bicValid, ibanFault } from '../../../lib/recipients/iban.ts'
import { sandboxAccounts } from '../../../lib/sandbox/accounts.ts'

const NUMBERS = [2_000_000, 2_000_001, 4_711_815, 9_999_999]

t.test('every offered currency has accounts whose check digits are right', (t) => {
  for (const currency of OFFERED_CURRENCIES) {
    for (const number of NUMBERS) {
      const accounts = sandboxAccounts(currency, number)
      t.equal(accounts.at(-1)?.scope, 'international', `${currency} is reached from abroad`)
      for (const { identifiers, rails } of accounts) {
        t.ok(rails.length > 0)
        const { iban, bic, accountNumber, routingNumber, clabe } = identifiers
        t.ok(iban !== null || accountNumber !== null || clabe !== null, 'something names the account')
        if (iban !== null) t.equal(ibanFault(iban), null, iban)
        if (bic !== null) t.ok(bicValid(bic), bic)
        if (routingNumber !== null) t.ok(abaValid(routingNumber))
        if (clabe !== null) t.ok(clabeValid(clabe), clabe)
      }
    }
  }
  t.end()
})

t.test('the forms of the sandbox bank', (t) => {
  const local = (currency: 'EUR' | 'GBP' | 'USD' | 'JPY' | 'MXN') => sandboxAccounts(currency, 2_000_001)[0]!
  t.match(local('EUR'), {
    scope: 'local',
    country: 'NL',
    rails: ['sepa', 'sepa_instant', 'target2'],
    identifiers: { iban: /^NL\d\dSBOX0202000001$/, bic: 'SBOXNL2A', accountNumber: null },
  })
  t.match(local('GBP'), { country: 'GB', identifiers: { sortCode: '990001', accountNumber: /^\d{8}$/, iban: null } })
  t.match(local('USD'), { country: 'US', identifiers: { routingNumber: '099000011', accountNumber: /^\d{10}$/ } })
  t.match(local('JPY'), {
    country: 'JP',
    identifiers: { bankCode: /^\d{4}$/, branchCode: /^\d{3}$/, accountNumber: /^\d{7}$/ },
  })
  t.match(local('MXN'), { country: 'MX', identifiers: { clabe: /^999010\d{12}$/ } })
  t.match(sandboxAccounts('GBP', 2_000_001)[1], {
    scope: 'international',
    rails: ['swift'],
    identifiers: { iban: /^GB\d\dSBOX990001\d{8}$/ },
  })
  t.match(sandboxAccounts('CHF', 2_000_001), [
    { scope: 'international', rails: ['swift'], identifiers: { iban: /^NL/ } },
  ])
  const seen = new Set(NUMBERS.map((number) => sandboxAccounts('EUR', number)[0]!.identifiers.iban))
  t.equal(seen.size, NUMBERS.length, 'another number is another account')
  t.end()
})
