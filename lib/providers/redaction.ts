/** Takes secrets out of texts that are recorded or shown. Pure. */

/** Shorter texts are no secrets, and would take words out of every sentence. */
const SECRET_LENGTH_MIN = 6
const REDACTED = '[redacted]'

export type Redact = (text: string) => string

/**
 * Returns what takes secrets out of a text: as they are, in base64, with their characters escaped for an address or for
 * JSON, and each line of a key by itself.
 */
export function redactor(secrets: Iterable<string>): Redact {
  const forms = new Set<string>()
  for (const secret of secrets) {
    const base64 = Buffer.from(secret).toString('base64')
    for (const form of [
      secret,
      ...secret.split(/\r?\n/),
      base64,
      base64.replace(/=+$/, ''),
      encodeURIComponent(secret),
    ])
      for (const text of [form, JSON.stringify(form).slice(1, -1)])
        if (text.length >= SECRET_LENGTH_MIN) forms.add(text)
  }
  // The longest first: a secret may hold another one.
  const ordered = [...forms].sort((left, right) => right.length - left.length)
  return (text) => ordered.reduce((rest, form) => rest.replaceAll(form, REDACTED), text)
}

/** Returns every text in a value, at any depth. */
export function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
