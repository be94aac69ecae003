/** The settings of mail: the address of the mail server and the sender. */

/** A mail server, as `SMTP_URL` names it. */
export interface SmtpServer {
  readonly host: string
  readonly port: number
  /** TLS from the first byte; otherwise STARTTLS. */
  readonly secure: boolean
  readonly user: string | null
  readonly password: string | null
}

/** A sender, as `MAIL_FROM` names it. */
export interface Mailbox {
  readonly name: string | null
  readonly address: string
}

/** Submission by mail programs (RFC 6409), and the same within TLS (RFC 8314). */
const SUBMISSION_PORT = 587
const SUBMISSIONS_PORT = 465

const ADDRESS = /^[^\s<>@"(),:;[\]\\]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/
const MAILBOX = /^(?:"?(?<name>[^<>"\p{Cc}]*?)"?\s*<(?<inner>[^<>]*)>|(?<bare>[^<>]*))$/u

/** Reads `smtp://user:password@host:port`, and `smtps://` for TLS. `null`: the text is neither. */
export function parseSmtpUrl(value: string): SmtpServer | null {
  const url = URL.canParse(value) ? new URL(value) : null
  if (url === null || !/^smtps?:$/.test(url.protocol) || url.hostname === '' || url.port === '0') return null
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') return null
  if (url.username === '' && url.password !== '') return null
  const secure = url.protocol === 'smtps:'
  try {
    return {
      host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: url.port === '' ? (secure ? SUBMISSIONS_PORT : SUBMISSION_PORT) : Number(url.port),
      secure,
      user: url.username === '' ? null : decodeURIComponent(url.username),
      password: url.password === '' ? null : decodeURIComponent(url.password),
    }
  } catch {
    // A percent sign that encodes nothing.
    return null
  }
}

/** Reads `name@host` and `Name <name@host>`. `null`: the text is neither. */
export function parseMailbox(value: string): Mailbox | null {
  const parts = MAILBOX.exec(value.trim())?.groups
  const address = (parts?.['inner'] ?? parts?.['bare'] ?? '').trim()
  if (!ADDRESS.test(address)) return null
  const name = (parts?.['name'] ?? '').trim()
  return { name: name === '' ? null : name, address }
}

/** Whether a host is this machine, to which nothing travels over a network. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d+){3}$/.test(host)
