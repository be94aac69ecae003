/** What every answer of the service says, whatever it answers. */
export const HEADER_OF_EVERY_ANSWER: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': `default-src 'none'; frame-ancestors 'none'`,
}
