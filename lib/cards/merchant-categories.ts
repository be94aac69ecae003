/**
 * Merchant categories: the groups of merchant category codes (ISO 18245) that controls and limits of cards name. The
 * first row whose range contains a code gives its category, so single codes stand before the ranges around them.
 */

export const MERCHANT_CATEGORIES = [
  'airlines',
  'vehicle_rental',
  'lodging',
  'cruise_lines',
  'transport',
  'fuel',
  'groceries',
  'restaurants',
  'digital_goods',
  'cash',
  'gambling',
  'financial_services',
  'utilities',
  'entertainment',
  'health',
  'education',
  'government',
  'professional_services',
  'business_services',
  'retail',
  'other',
] as const
export type MerchantCategory = (typeof MERCHANT_CATEGORIES)[number]

const RANGES: readonly (readonly [from: number, to: number, category: MerchantCategory])[] = [
  [3000, 3350, 'airlines'],
  [4511, 4511, 'airlines'],
  [3351, 3500, 'vehicle_rental'],
  [7512, 7513, 'vehicle_rental'],
  [7519, 7519, 'vehicle_rental'],
  [3501, 3999, 'lodging'],
  [7011, 7012, 'lodging'],
  [7032, 7033, 'lodging'],
  [4411, 4411, 'cruise_lines'],
  [4812, 4900, 'utilities'],
  [4000, 4811, 'transport'],
  [7523, 7523, 'transport'],
  [5541, 5542, 'fuel'],
  [5552, 5552, 'fuel'],
  [5983, 5983, 'fuel'],
  [5411, 5499, 'groceries'],
  [5811, 5814, 'restaurants'],
  [5815, 5818, 'digital_goods'],
  [5912, 5912, 'health'],
  [6010, 6011, 'cash'],
  [7800, 7802, 'gambling'],
  [7995, 7995, 'gambling'],
  [9406, 9406, 'gambling'],
  [6012, 6540, 'financial_services'],
  [4829, 4829, 'financial_services'],
  [7829, 7999, 'entertainment'],
  [8011, 8099, 'health'],
  [8211, 8299, 'education'],
  [9211, 9402, 'government'],
  [9405, 9405, 'government'],
  [8111, 8111, 'professional_services'],
  [8931, 8999, 'professional_services'],
  [7311, 7399, 'business_services'],
  [5013, 5999, 'retail'],
]

/** Returns the category of a merchant category code of four digits; `other` for a code that no row contains. */
export function categoryOf(mcc: string): MerchantCategory {
  const code = Number.parseInt(mcc, 10)
  return RANGES.find(([from, to]) => code >= from && code <= to)?.[2] ?? 'other'
}
