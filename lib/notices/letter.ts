/**
 * The form of a mail: text as it was written, and HTML that is made of it under the name of the operator. Texts hold
 * names that customers choose, so everything is escaped, and a header is one line: a line break in it would let the
 * author of a name add headers.
 */
import { xmlText } from '../base/xml.ts'
import type { Brand } from '../branding/brand.ts'
import type { MailLetter, Mail } from './mail.ts'

/** The longest header value: a subject beyond this is not read by people. */
const HEADER_MAX = 250
/** Far beyond the longest text of a mail. */
const TEXT_MAX = 100_000

/** Addresses of pages, which HTML shows as links; a full stop or a bracket that follows belongs to the sentence. */
const ADDRESS = /https?:\/\/[^\s<>"]*[^\s<>".,;:!?)]/g

const BODY_STYLE = 'margin:0;padding:24px;font:16px/1.5 sans-serif;color:#222'
const HEAD_STYLE = 'margin:0 0 24px;padding-bottom:12px;font-weight:bold'
const FOOT_STYLE = 'margin:24px 0 0;padding-top:12px;border-top:1px solid #ddd;font-size:13px;color:#555'
const LOGO_STYLE = 'display:block;max-width:240px;max-height:64px;margin-bottom:8px'

/** The Content-ID of the logo. */
export const LOGO_ID = 'logo'

export interface WrittenMail extends Mail {
  readonly id: string
  /** The brand of the operator; null for a person who belongs to none. */
  readonly brand: Brand | null
  /** Epoch milliseconds. */
  readonly writtenAt: number
}

/** Makes the letter of a mail. */
export function letterOf({ id, to, subject, text, brand, writtenAt }: WrittenMail): MailLetter {
  const title = headerLine(subject)
  const foot = brand === null ? [] : footOf(brand)
  return {
    id,
    to,
    subject: title,
    text: foot.length === 0 ? text : `${text}\r\n\r\n-- \r\n${foot.join('\r\n')}`,
    html: htmlOf(title, text, brand, foot),
    senderName: brand === null ? null : headerLine(brand.name),
    // Programs that read mails show no SVG.
    logo: brand?.logo?.contentType === 'image/png' ? brand.logo : null,
    writtenAt,
  }
}

/** The lines below every mail: where to ask, and the details of the company. */
function footOf({ name, support, footer }: Brand): readonly string[] {
  const contacts = [support.email, support.phone, support.url].filter((contact) => contact !== null)
  return [...(contacts.length === 0 ? [] : [`${name}: ${contacts.join(', ')}`]), ...(footer === null ? [] : [footer])]
}

/** Returns a text as the value of a header: one line, without control characters. */
export function headerLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return Array.from(line).slice(0, HEADER_MAX).join('')
}

function htmlOf(title: string, text: string, brand: Brand | null, foot: readonly string[]): string {
  const style = brand === null ? '' : `<style>a{color:${brand.linkColor}}</style>`
  const lines = (part: string) => part.trim().split(/\r?\n/)
  const paragraphs = text
    .split(/(?:\r?\n){2,}/)
    .filter((part) => part.trim() !== '')
    .map((part) => `<p>${lines(part).map(linkedLine).join('<br>\n')}</p>`)
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title>${style}</head>`,
    `<body style="${BODY_STYLE}">`,
    ...(brand === null ? [] : [headOf(brand)]),
    ...paragraphs,
    ...(foot.length === 0 ? [] : [`<p style="${FOOT_STYLE}">${foot.map(linkedLine).join('<br>\n')}</p>`]),
    '</body></html>',
    '',
  ].join('\n')
}

/** The name of the operator, over a line in its colour, below its logo. */
function headOf({ name, primaryColor, logo }: Brand): string {
  const picture = logo?.contentType === 'image/png' ? `<img src="cid:${LOGO_ID}" alt="" style="${LOGO_STYLE}">` : ''
  return `<p style="${HEAD_STYLE};border-bottom:3px solid ${primaryColor}">${picture}${escaped(headerLine(name))}</p>`
}

/** Escapes a line, with its addresses of pages as links. */
function linkedLine(line: string): string {
  let html = ''
  let end = 0
  for (const { 0: address, index } of line.matchAll(ADDRESS)) {
    html += `${escaped(line.slice(end, index))}<a href="${escaped(address)}">${escaped(address)}</a>`
    end = index + address.length
  }
  return html + escaped(line.slice(end))
}

const escaped = (text: string): string => xmlText(text, TEXT_MAX).replaceAll("'", '&#39;')
