/** A mail, and the port that sends it. The composition root chooses the implementation. */

export interface Mail {
  readonly to: string
  readonly subject: string
  /** Plain text. */
  readonly text: string
}

export interface Mailer {
  /** Hands a mail over. @throws Error when it could not be handed over; no mail was sent then */
  send(mail: Mail): Promise<void>
}
