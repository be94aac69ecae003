/** The logging interface that the code uses. */

/** The part of pino that this layer uses. */
export interface Log {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
