/** The log as the code sees it. */

/** The part of pino that this layer uses. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
