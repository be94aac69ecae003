/**
 * Writes mail to files: on a local node in place of sending, elsewhere for a mail relay. One file each, readable by the
 * owner alone, because a reset link is a credential.
 */
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { timestamp, type Clock } from '../../lib/base/clock.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import type { Mail, Mailer } from '../../lib/notices/mail.ts'

export interface OutboxOptions {
  readonly directory: string
  readonly clock: Clock
  readonly ids: IdSource
  /** Receives each mail, with its link: set only where the log is the developer's own screen. */
  readonly announce?: (mail: Mail) => void
}

/** Creates a mailer that writes `<id>.eml` files, each complete from the moment it has its name. */
export function createMailOutbox({ directory, clock, ids, announce }: OutboxOptions): Mailer {
  return {
    async send(mail) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const id = ids.next()
      const path = join(directory, `${id}.eml`)
      // A line break in a header would allow its author to add headers.
      const header = (value: string) => value.replaceAll(/[\r\n]+/g, ' ')
      const text = [
        `Date: ${new Date(clock.now()).toUTCString()}`,
        `Message-ID: <${id}@vostro>`,
        `To: ${header(mail.to)}`,
        `Subject: ${header(mail.subject)}`,
        'MIME-Version: 1.0',
        'Content-Type: text/plain; charset=utf-8',
        `X-Written-At: ${timestamp(clock.now())}`,
        '',
        mail.text,
        '',
      ].join('\r\n')
      await writeFile(`${path}.new`, text, { mode: 0o600 })
      await rename(`${path}.new`, path)
      announce?.(mail)
    },
  }
}
