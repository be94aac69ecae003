/** The headers that every answer of the service has. */
export const HEADER_OF_EVERY_ANSWER: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': `default-src 'none'; frame-ancestors 'none'`,
}
