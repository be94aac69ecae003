/** Notices: those of a person within the service, and the mails that are sent. */
import { join } from 'node:path'
import { parseMailbox, parseSmtpUrl } from '../../lib/config/mail-settings.ts'
import type { MailTransport } from '../../lib/notices/mail.ts'
import { createMailOutbox } from '../../storage/notices/mail-outbox.ts'
import { createSmtpTransport } from '../../storage/notices/smtp-transport.ts'
import type { Node } from '../runtime/node.ts'
import { MailSender } from './mail-sender.ts'
import { createNotices } from './notice-operations.ts'

export type NoticeService = ReturnType<typeof createNoticeService>

/** Creates the service. */
export function createNoticeService(node: Node) {
  const mails = new MailSender({ ...node, transport: transportOf(node) })
  return { ...createNotices(node), tasks: mails.tasks(), mails }
}

/** The mail server of the settings; without one, files in `outbox`. */
function transportOf({ config, log }: Pick<Node, 'config' | 'log'>): MailTransport {
  const { smtpUrl, smtpTls, mailFrom } = config
  const server = smtpUrl === null ? null : parseSmtpUrl(smtpUrl)
  const from = mailFrom === null ? null : parseMailbox(mailFrom)
  if (server !== null && from !== null) return createSmtpTransport({ server, tls: smtpTls, from })
  return createMailOutbox({
    directory: join(config.dataDir, 'outbox'),
    // Links in mails are credentials, so mails are logged only when the service runs locally.
    ...(config.appEnv === 'local'
      ? { announce: ({ to, subject, text }) => log.info({ mail: { to, subject, text } }, 'mail') }
      : {}),
  })
}
