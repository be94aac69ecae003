/**
 * The form of a mail: text as it was written, and HTML that is made of it under the name of the operator. Texts hold
 * names that customers choose, so everything is escaped, and a header is one line: a line break in it would let the
 * author of a name add headers.
 */
import { xmlText } from '../base/xml.ts'
import type { MailLetter, Mail } from './mail.ts'

/** The longest header value: a subject beyond this is not read by people. */
const HEADER_MAX = 250
/** Far beyond the longest text of a mail. */
const TEXT_MAX = 100_000

/** Addresses of pages, which HTML shows as links; a full stop or a bracket that follows belongs to the sentence. */
const ADDRESS = /https?:\/\/[^\s<>"]*[^\s<>".,;:!?)]/g

const BODY_STYLE = 'margin:0;padding:24px;font:16px/1.5 sans-serif;color:#222'
const NAME_STYLE = 'margin:0 0 24px;padding-bottom:12px;border-bottom:1px solid #ddd;font-weight:bold'

export interface WrittenMail extends Mail {
  readonly id: string
  /** The name of the operator; null for a person who belongs to none. */
  readonly operatorName: string | null
  /** Epoch milliseconds. */
  readonly writtenAt: number
}

/** Makes the letter of a mail. */
export function letterOf({ id, to, subject, text, operatorName, writtenAt }: WrittenMail): MailLetter {
  const title = headerLine(subject)
  const senderName = operatorName === null ? null : headerLine(operatorName)
  return { id, to, subject: title, text, html: htmlOf(title, text, senderName), senderName, writtenAt }
}

/** Returns a text as the value of a header: one line, without control characters. */
export function headerLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return Array.from(line).slice(0, HEADER_MAX).join('')
}

function htmlOf(title: string, text: string, senderName: string | null): string {
  const paragraphs = text
    .split(/(?:\r?\n){2,}/)
    .filter((part) => part.trim() !== '')
    .map((part) => `<p>${part.trim().split(/\r?\n/).map(linkedLine).join('<br>\n')}</p>`)
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${escaped(title)}</title></head>`,
    `<body style="${BODY_STYLE}">`,
    ...(senderName === null ? [] : [`<p style="${NAME_STYLE}">${escaped(senderName)}</p>`]),
    ...paragraphs,
    '</body></html>',
    '',
  ].join('\n')
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
