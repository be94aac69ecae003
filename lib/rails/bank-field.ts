/** The details by which rails identify accounts. */

/**
 * A bank detail that can identify an account, or the recipient's full address. `accountWithoutIban` is the account
 * number where it is enough without an IBAN: in countries that have no IBANs, and for dollars.
 */
export type BankField =
  | 'iban'
  | 'bic'
  | 'accountNumber'
  | 'accountWithoutIban'
  | 'accountType'
  | 'sortCode'
  | 'routingNumber'
  | 'bsb'
  | 'institutionNumber'
  | 'transitNumber'
  | 'bankCode'
  | 'branchCode'
  | 'clearingNumber'
  | 'ifsc'
  | 'clabe'
  | 'bankgiro'
  | 'fpsId'
  | 'address'
