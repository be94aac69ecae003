/**
 * Delivers mails to a mail server by SMTP, each on a connection of its own: mails are few, and a connection that was
 * kept open would have to be checked before each.
 *
 * The letter goes out as a stream whose end waits for `beforeEnd`: nodemailer sends the final dot of DATA when the
 * stream has ended, and a server delivers nothing without it.
 */
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import MailComposer from 'nodemailer/lib/mail-composer'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { isLoopback, type Mailbox, type SmtpServer } from '../../lib/config/mail-settings.ts'
import { LOGO_ID } from '../../lib/notices/letter.ts'
import { MailRefused, type Delivery, type MailLetter, type MailTransport } from '../../lib/notices/mail.ts'

const CONNECT_MS = 10_000
const GREETING_MS = 30_000
/**
 * The silence after which a connection is given up. RFC 5321 (4.5.3.2.6) asks for ten minutes after the end of a
 * letter: a server that was slow and not dead would deliver a letter that is then repeated.
 */
const SILENCE_MS = 10 * 60_000
/** The time that a stopping node waits for the answer to a letter that it has handed over. */
const LAST_ANSWER_MS = 3_000

/** The commands whose refusal is about this letter; all others are about the service, such as a wrong password. */
const ABOUT_LETTER: ReadonlySet<string | undefined> = new Set(['RCPT TO', 'DATA'])
const PERMANENT_MIN = 500

export interface SmtpTransportOptions {
  readonly server: SmtpServer
  /** `off` allows a server that offers no TLS; one on the loopback interface needs none. */
  readonly tls: 'on' | 'off'
  readonly from: Mailbox
}

/** Creates the transport; nothing is connected yet. */
export function createSmtpTransport({ server, tls, from }: SmtpTransportOptions): MailTransport {
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1)
  const { host, port, secure, user, password } = server
  return {
    async deliver(letter, delivery) {
      const message = await compose(letter, from, domain)
      const connection = new SMTPConnection({
        host,
        port,
        secure,
        requireTLS: !secure && tls === 'on' && !isLoopback(host),
        ...(isIP(host) === 0 ? { servername: host } : {}),
        connectionTimeout: CONNECT_MS,
        greetingTimeout: GREETING_MS,
        socketTimeout: SILENCE_MS,
        // Closed at once: a delivery that has ended leaves nothing open.
        socketCloseTimeout: 0,
      })
      const auth = user === null ? null : { user, pass: password ?? '' }
      const envelope = { from: from.address, to: [letter.to], size: message.length }
      return await converse(connection, auth, envelope, message, delivery)
    },
  }
}

/** Makes the message of a letter. The same letter has the same Message-ID and Date at each attempt. */
async function compose(letter: MailLetter, from: Mailbox, domain: string): Promise<Buffer> {
  return await new MailComposer({
    from: { name: letter.senderName ?? from.name ?? '', address: from.address },
    to: { name: '', address: letter.to },
    subject: letter.subject,
    text: letter.text,
    html: letter.html,
    attachments:
      letter.logo === null
        ? []
        : [
            {
              cid: LOGO_ID,
              contentType: letter.logo.contentType,
              contentDisposition: 'inline',
              filename: 'logo.png',
              content: letter.logo.data,
              encoding: 'base64',
            },
          ],
    messageId: `<${letter.id}@${domain}>`,
    date: new Date(letter.writtenAt),
    // No answering machine answers.
    headers: { 'Auto-Submitted': 'auto-generated' },
    newline: 'win',
    disableFileAccess: true,
    disableUrlAccess: true,
  })
    .compile()
    .build()
}

/** Sends one message on a connection, and closes it. @returns the answer of the server to the message */
async function converse(
  connection: SMTPConnection,
  auth: { readonly user: string; readonly pass: string } | null,
  envelope: { readonly from: string; readonly to: string[]; readonly size: number },
  message: Buffer,
  { beforeEnd, signal }: Delivery,
): Promise<string> {
  signal.throwIfAborted()
  let handedOver = false
  /** The error of `beforeEnd`, which nodemailer passes on in a form of its own. */
  let broken: { readonly error: unknown } | null = null
  async function* content(): AsyncGenerator<Buffer> {
    yield message
    try {
      await beforeEnd()
      handedOver = true
    } catch (error) {
      broken = { error }
      throw error
    }
  }
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let timer: NodeJS.Timeout | undefined
  const giveUp = () => reject(new Error('The node stops.'))
  const stop = () => {
    if (handedOver) timer = setTimeout(giveUp, LAST_ANSWER_MS)
    else giveUp()
  }
  signal.addEventListener('abort', stop, { once: true })
  connection.once('error', (error) => reject(refusalOf(error)))
  connection.once('end', () => reject(new Error('The mail server has closed the connection.')))
  const send = () =>
    connection.send({ ...envelope }, Readable.from(content()), (error, info) => {
      if (error) reject(broken?.error ?? refusalOf(error))
      else resolve(info?.response ?? '')
    })
  connection.connect((error) => {
    if (error) reject(refusalOf(error))
    else if (auth === null) send()
    else
      connection.login({ ...auth }, (refused) => {
        if (refused) reject(refusalOf(refused))
        else send()
      })
  })
  try {
    const reply = await promise
    connection.quit()
    return reply
  } finally {
    connection.close()
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/** The members that nodemailer adds to its errors. */
interface SmtpError extends Error {
  readonly responseCode?: number | undefined
  readonly response?: string | undefined
  readonly command?: string | undefined
  readonly code?: string | undefined
}

/** Returns a refusal of the server as such; every other error as it is. */
function refusalOf(error: SmtpError): Error {
  const { responseCode, response, command, code } = error
  // An address that cannot be sent at all.
  if (code === 'EENVELOPE' && command === 'API') return new MailRefused(error.message, true)
  if (responseCode === undefined) return error
  return new MailRefused(response ?? error.message, responseCode >= PERMANENT_MIN && ABOUT_LETTER.has(command))
}
