/** Forms as browsers send them: `application/x-www-form-urlencoded`, from a page of this service. */
import type { Context } from 'koa'
import type { FieldError } from '../../lib/base/problems.ts'
import { refuse } from '../../lib/base/problems.ts'
import type { Party } from '../../lib/security/fair-share.ts'
import type { Arrivals } from '../access/arrivals.ts'
import type { FormField, FormFields } from './page.ts'
import type { FormTexts } from './texts.ts'

const FORM_TYPE = 'application/x-www-form-urlencoded'
/** Far above the longest name, address and password, each of whose characters may take twelve bytes. */
const FORM_BYTES_MAX = 16 * 1024
const REPLACEMENT_CHARACTER = '\ufffd'

/**
 * Returns whether a form was sent from a page of this service, or without a page. The token in the address is what
 * permits the form; this check is beside it, for a browser that was made to send a form to a link that it knows.
 * Browsers that are told to send no referrer have `null` as the Origin of their forms, so only another origin counts
 * as one where the browser does not tell the site.
 */
export function isSameSite({ req: { headers } }: Context, publicUrl: string | null): boolean {
  const { origin, host } = headers
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  if (origin === undefined || origin === 'null') return true
  return origin === publicUrl || (URL.canParse(origin) && new URL(origin).host === host)
}

/**
 * Reads a form.
 *
 * @throws ProblemError `unsupported-media-type`, `payload-too-large`, `request-timeout`
 */
export async function readForm({ req }: Context, arrivals: Arrivals, party: Party): Promise<URLSearchParams> {
  const type = req.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== FORM_TYPE || req.headers['content-encoding'] !== undefined)
    refuse('unsupported-media-type', `The form must be ${FORM_TYPE}.`, { extra: { supported: [FORM_TYPE] } })
  return new URLSearchParams(await arrivals.body(req, party, () => readText(req)))
}

/** Returns the entries of the fields that are filled in, as they were typed. @throws ProblemError `malformed-request` */
export function entriesOf(form: URLSearchParams, fields: FormFields): Record<string, string> {
  const entries: Record<string, string> = {}
  for (const name of Object.keys(fields)) {
    const [value = '', ...more] = form.getAll(name)
    if (more.length > 0 || value.includes(REPLACEMENT_CHARACTER))
      refuse('malformed-request', `The field ${name} is there twice, or is not UTF-8.`)
    if (value !== '') entries[name] = value
  }
  return entries
}

/** Returns the faults of fields that must be filled in and are not. */
export const missingOf = (entries: Readonly<Record<string, string>>, fields: FormFields): FieldError[] =>
  Object.entries(fields)
    .filter(([name, { required }]) => required === true && (entries[name] ?? '').trim() === '')
    .map(([name]) => ({ field: `/${name}`, code: 'required', message: 'Is required.' }))

async function readText(req: Context['req']): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of req as AsyncIterable<Uint8Array>) {
    bytes += piece.byteLength
    if (bytes > FORM_BYTES_MAX)
      refuse('payload-too-large', `The form may have at most ${FORM_BYTES_MAX} bytes.`, {
        extra: { maxBytes: FORM_BYTES_MAX },
      })
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/**
 * Returns what is wrong with the fields of a form, in words for people; null when one of the errors is about nothing
 * that they can correct.
 */
export function faultsOf(
  errors: readonly FieldError[],
  fields: FormFields,
  texts: FormTexts,
): Record<string, string> | null {
  const faults: Record<string, string> = {}
  for (const error of errors) {
    const name = error.field.slice(1)
    const field = fields[name]
    if (field === undefined) return null
    faults[name] ??= faultText(error, field, texts.faults)
  }
  return Object.keys(faults).length === 0 ? null : faults
}

function faultText({ code, params }: FieldError, { secret }: FormField, texts: FormTexts['faults']): string {
  switch (code) {
    case 'required':
    case 'invalid_format':
    case 'invalid_characters':
      return texts[code]
    case 'too_short':
      return params?.['min'] === undefined ? texts.other : texts.too_short(`${params['min']}`)
    case 'too_long':
      return params?.['max'] === undefined ? texts.other : texts.too_long(`${params['max']}`)
    case 'invalid_value':
      return secret === true ? texts.weakPassword : texts.other
    default:
      return texts.other
  }
}
