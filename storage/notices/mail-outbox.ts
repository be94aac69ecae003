/**
 * Writes mails to files, in place of a mail server. One file each, readable by the owner alone, because a reset link is
 * a credential. A file has the id of its mail, so a mail that is repeated is there once.
 */
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { timestamp } from '../../lib/base/clock.ts'
import { headerLine, LOGO_ID } from '../../lib/notices/letter.ts'
import type { MailLetter, MailTransport } from '../../lib/notices/mail.ts'

export interface OutboxOptions {
  readonly directory: string
  /** Receives each mail, with its link: set only where the log is the developer's own screen. */
  readonly announce?: (letter: MailLetter) => void
}

/** Creates a transport that writes `<id>.eml` files, each complete from the moment it has its name. */
export function createMailOutbox({ directory, announce }: OutboxOptions): MailTransport {
  return {
    async deliver(letter, { beforeEnd }) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const path = join(directory, `${letter.id}.eml`)
      await writeFile(`${path}.new`, messageOf(letter), { mode: 0o600 })
      await beforeEnd()
      await rename(`${path}.new`, path)
      announce?.(letter)
      return `written to ${path}`
    },
  }
}

/** The message, in a form that people and mail programs read: nothing in it is encoded. */
function messageOf({ id, to, subject, text, html, senderName, logo, writtenAt }: MailLetter): string {
  const boundary = `part-${id}`
  const pictured = `pictured-${id}`
  const part = (type: string, content: string, within = boundary) => [
    `--${within}`,
    `Content-Type: ${type}; charset=utf-8`,
    'Content-Transfer-Encoding: 8bit',
    '',
    content.replaceAll(/\r?\n/g, '\r\n'),
  ]
  return [
    `Date: ${new Date(writtenAt).toUTCString()}`,
    `Message-ID: <${id}@vostro>`,
    ...(senderName === null ? [] : [`From: ${senderName}`]),
    `To: ${headerLine(to)}`,
    `Subject: ${subject}`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
    `X-Written-At: ${timestamp(writtenAt)}`,
    '',
    ...part('text/plain', text),
    ...(logo === null
      ? part('text/html', html)
      : [
          `--${boundary}`,
          `Content-Type: multipart/related; boundary="${pictured}"`,
          '',
          ...part('text/html', html, pictured),
          `--${pictured}`,
          `Content-Type: ${logo.contentType}`,
          `Content-ID: <${LOGO_ID}>`,
          'Content-Transfer-Encoding: base64',
          '',
          ...(logo.data.match(/.{1,76}/g) ?? []),
          `--${pictured}--`,
        ]),
    `--${boundary}--`,
    '',
  ].join('\r\n')
}
