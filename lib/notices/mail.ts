/** Mail, as the service needs it: the port. What sends it is put in by whoever composes the service. */

export interface Mail {
  readonly to: string
  readonly subject: string
  /** Plain text. */
  readonly text: string
}

export interface Mailer {
  /** Hands a mail over. @throws when it could not be handed over; nothing was sent then */
  send(mail: Mail): Promise<void>
}
