/** Mails, and the port that delivers them. */
import type { Logo } from '../branding/logo.ts'

/** A mail as it is written by the transaction that causes it. */
export interface Mail {
  readonly to: string
  readonly subject: string
  /** Plain text; the HTML part is made of it. */
  readonly text: string
}

/** A mail that is not about a notice. */
export interface NewMail extends Mail {
  /** The customer or operator whose mail it is; null for a person who belongs to none. The operator's name is shown. */
  readonly tenantId: string | null
  /** The end of a link in the text, epoch milliseconds: the mail is not sent after it. Absent: no link ends. */
  readonly validUntil?: number
}

/** A mail as it is delivered. */
export interface MailLetter {
  /** The id of the mail: its Message-ID, the same at each attempt. */
  readonly id: string
  readonly to: string
  /** Without line breaks. */
  readonly subject: string
  readonly text: string
  readonly html: string
  /** The name of the operator, without line breaks; null for a person who belongs to none. */
  readonly senderName: string | null
  /** The picture that the HTML part shows as LOGO_ID (lib/notices/letter.ts); null: none. */
  readonly logo: Logo | null
  /** When the mail was written, epoch milliseconds. */
  readonly writtenAt: number
}

export interface Delivery {
  /**
   * Called before the end of the letter is handed over. Until then nothing is delivered; from then on it may be, even
   * when no answer arrives. When it throws, nothing is delivered.
   */
  readonly beforeEnd: () => Promise<void>
  /** Aborted when the node stops. */
  readonly signal: AbortSignal
}

/** Delivers mails: to the operator's mail server, or to files. The settings choose. */
export interface MailTransport {
  /**
   * Delivers a letter.
   *
   * @returns the answer of the mail server
   * @throws MailRefused for an answer of the server that refuses; every other error leaves the outcome open once
   *   `beforeEnd` has been called
   */
  deliver(letter: MailLetter, delivery: Delivery): Promise<string>
}

/** The mail server has refused. The message is its answer. */
export class MailRefused extends Error {
  override readonly name = 'MailRefused'
  /** True when this recipient or this letter is refused for good; false when a later attempt may succeed. */
  readonly permanent: boolean

  constructor(reply: string, permanent: boolean) {
    super(reply)
    this.permanent = permanent
  }
}
